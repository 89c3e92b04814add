"""The guide's examples run, in order, as a reader would run them."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"


def test_the_guide_runs(capsys):
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 4
    names = {"__name__": "guide"}
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), names)
    shown = capsys.readouterr().out
    assert shown.startswith("passed at stage")
    assert shown.count("REJECTED at stage") == 2
