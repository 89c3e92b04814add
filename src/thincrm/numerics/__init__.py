"""The cellar: arrays in, arrays out; knows no model."""
