"""Small files that claim to be large, or unpack to it; and a child that reads within bounds."""

import gzip
import io
import json
import os
import re
import resource
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

import thincrm as tc
from thincrm.data.reading.read_counts import is_counts
from thincrm.errors import ThincrmError

ALLOWED_MB = 200  # beside twice the file
MIB = 2**20


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def claimed(shape, dtype="<i8"):
    """Return an array's header without its numbers."""
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


def npz(kind, shape, **parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("format.npy", npy(np.array(kind, "S3")))
        archive.writestr("shape.npy", npy(np.array(shape)))
        for name, content in parts.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def coo(shape):
    one = npy(np.zeros(1, np.int64))
    return npz("coo", shape, row=one, col=one, data=npy(np.ones(1, np.int64)))


def long_npz():
    zeros = np.zeros(40_000_000, np.int64)
    start = npy(np.array([0, zeros.size]))
    return npz("csr", (1, 1), indptr=start, indices=npy(zeros), data=npy(zeros))


def market(documents, words, entries):
    head = "%%MatrixMarket matrix coordinate integer general"
    return f"{head}\n{documents} {words} {entries}\n1 1 1\n".encode()


def parquet(column, n_rows):
    """Return one value that is repeated: a dictionary and a few bytes, however many rows."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, pa.schema([("text", column.type), ("x", pa.int64())])) as file:
        step = min(n_rows, 1_000_000)
        values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(step, np.int32)), column)
        for _ in range(n_rows // step):
            rows = [values.cast(column.type) if step < 10**6 else values.dictionary_decode(),
                    pa.array(np.ones(step, np.int64))]  # fmt: skip
            file.write_table(pa.table(rows, names=["text", "x"]))
    return buffer.getvalue()


def parquet_rows():
    import pyarrow as pa

    return parquet(pa.array(["x" * 20]), 30_000_000)


def parquet_texts():
    import pyarrow as pa

    return parquet(pa.array(["x" * 200_000]), 5_000)


BOMBS = {
    "a.npz: unpacks to 640 MB": long_npz,
    "b.npz: claims 1e9 documents": lambda: coo((10**9, 1)),
    "c.npz: claims 2e9 words": lambda: coo((1, 2 * 10**9)),
    "d.npz: an array says it is longer": lambda: npz(
        "csr", (1, 1), indptr=claimed((2 * 10**8,)), indices=claimed((1,)), data=claimed((1,))
    ),
    "e.mtx: claims 1e7 documents": lambda: market(10**7, 10**7, 1),
    "f.mtx: claims 1e9 entries": lambda: market(10**9, 10**9, 10**9),
    "g.txt: claims 1e7 documents": lambda: b"10000000\n10000000\n1\n1 1 1\n",
    "h.ldac: a word numbered 1e9": lambda: b"1 1000000000:1\n",
    "i.ldac: a word numbered 9e6": lambda: b"1 9000000:1\n",
    "j.mtx.gz: long lines": lambda: gzip.compress(
        market(1, 1, 1) + (b" " * (8 * MIB) + b"\n") * 200
    ),
    "k.csv.gz: unpacks to 1 GB": lambda: gzip.compress(b"text\n" + (b"a" * MIB + b"\n") * 1000),
    "l.csv: one line of cells": lambda: b"text,x\n" + b"ab," * (5 * MIB) + b"\n",
    "m.csv: a quotation of cells": lambda: b'text,x\n"\n' + b'ab","\n' * (20 * MIB // 6),
    "n.csv: a line of columns": lambda: b",".join(b"%x" % i for i in range(2_000_000)) + b"\n1\n",
    "o.jsonl: one line of objects": lambda: (
        b'{"text": "a", "x": [' + b"{}," * (5 * MIB) + b"{}]}\n"
    ),
    "p.jsonl: one line of keys": lambda: json.dumps(dict.fromkeys(range(1_200_000), 1)).encode(),
    "q.parquet: 3e7 rows": parquet_rows,
    "r.parquet: one text of 200 kB, 5,000 times": parquet_texts,
    "s.csv: a number of a million digits": lambda: b"text,x\na," + b"1" * MIB + b"x\n",
    "t.csv: a date of a million letters": lambda: b"text,date,x\na," + b"1" * MIB + b"x,1\n",
    "u.txt: a line of counts": lambda: b"0" + b" 0:0" * (4 * MIB - 10) + b"\n",
    "v.mtx: a first line of words": lambda: b"%%MatrixMarket" + b" ab" * (5 * MIB) + b"\n",
    "w.mtx: a second line of numbers": lambda: market(1, 1, 1)[:49] + b"11 " * (5 * MIB) + b"\n",
    "x.csv: a date of words": lambda: b"text,date,x\na," + b"11 " * (5 * MIB) + b",1\n",
    "y.csv: a column's name of words": lambda: b"11 " * (5 * MIB) + b"\n1\n",
}
SAID = {  # by one reader at least: of what each claims to be, the sentence that refuses it
    "a": "unpacks to more than 50 times", "b": "cannot be meant", "c": "cannot be meant",
    "d": "says another length than it has", "e": "cannot be meant", "f": "are announced, and",
    "g": "cannot be meant", "h": "without large gaps", "i": "without large gaps",
    "j": "too long for three numbers", "k": "unpacks to more than 50 times",
    "l": "more than 1000000 cells", "m": "more than 1000000 cells", "n": "more than 1000000 cells",
    "o": "more than 1000000 values", "p": "more than 1000000 values", "q": "that is no table",
    "r": "unpacks to more than 50 times", "s": "", "t": "is not a date", "u": "and 4194294 follow",
    "v": "only 'matrix coordinate", "w": "there should be three whole numbers",
    "x": "is not a date", "y": "has no column 'text'",
}  # fmt: skip


def read_all(path):
    """Read a file by every reader; return the sentences they say."""
    readers = (
        lambda: tc.read_texts(path, date="date", covariates="x", skip_bad=True),
        lambda: tc.read_texts(path, covariates="x", skip_bad=True),
        lambda: tc.read_texts(path, skip_bad=True),
        lambda: tc.read_table(path, skip_bad=True),
        lambda: tc.read_counts(path),
        lambda: tc.read_counts([[0]], path),
        lambda: is_counts(Path(path)),
    )
    said = []
    for read in readers:
        try:
            read()
        except ThincrmError as error:
            said.append(str(error))
    return said


def forget_peak():
    """Begin to look for the most memory anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb():
    """Return the most memory so far: of this program, not of the parent it was forked from."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    forget_peak()
    before = peak_mb()
    print(*read_all(sys.argv[1]), sep="\n")
    used, size = peak_mb() - before, os.path.getsize(sys.argv[1]) / MIB
    print(f"{used:.0f} MB for a file of {size:.1f} MB")
    sys.exit(used > 2 * size + ALLOWED_MB)
