"""Good files of every kind, and changes to them that a seed decides."""

import gzip
import io
import json

import numpy as np
import pandas as pd
from scipy import sparse

TOKENS = (  # what readers look for, and what upsets them
    b",", b";", b"\t", b'"', b"\n", b"\r", b"\0", b"\xff", b"\x1b[2J", b"{", b"[", b"}", b"]", b":",
    b"NaN", b"1e999", b"-1", b"0", b"9" * 30, b"2147483648", b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1",
    b"%%MatrixMarket", b"\\ud800", b"1862", b"\xe2\x80\xae", b" ", b"\xff\xff\xff\x7f",
)  # fmt: skip


def whole_files():
    """Return the bytes of good files, by name."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "text": ['a "b",\nc', "ü", "war and peace", ""],
            "date": ["1862", "12 May 1863", "1900Q1", "1890s"],
            "x": [1.5, -2, 3, 4],
        }
    )
    counts = sparse.csr_array(rng.poisson(0.5, (5, 4)))
    table = frame.to_csv(index=False).encode()
    rows = b"".join(json.dumps(row).encode() + b"\n" for row in frame.to_dict("records"))
    entries = "".join(
        f"{i + 1} {j + 1} {n}\n" for i, j, n in zip(*sparse.find(counts), strict=True)
    )
    head = f"%%MatrixMarket matrix coordinate integer general\n5 4 {counts.nnz}\n"
    bags = [
        f"{row.nnz} " + " ".join(f"{j}:{n}" for j, n in zip(row.indices, row.data, strict=True))
        for row in (counts[[i]] for i in range(5))
    ]
    packed = io.BytesIO()
    sparse.save_npz(packed, counts)
    plain = io.BytesIO()
    sparse.save_npz(plain, sparse.coo_array(counts), compressed=False)
    files = {
        "a.csv": table,
        "a.tsv": frame.to_csv(index=False, sep="\t").encode(),
        "a.jsonl": rows,
        "a.csv.gz": gzip.compress(table, mtime=0),
        "a.mtx": (head + entries).encode(),
        "uci.txt": f"5\n4\n{counts.nnz}\n{entries}".encode(),
        "a.ldac": ("\n".join(bags) + "\n").encode(),
        "a.npz": packed.getvalue(),
        "plain.npz": plain.getvalue(),
        "words.txt": "war\npeace\nfrieden\n東京\n".encode(),
        "speeches/1862-03-12_a.txt": 'War and peace,\r\nfür 東京 "and" so on.\n'.encode(),
        "metadata.csv": b"file,when,x\na.txt,1862,1.5\nb.txt,12 May 1863,2\n",
    }
    try:
        parquet = io.BytesIO()
        frame.to_parquet(parquet)
        files["a.parquet"] = parquet.getvalue()
    except ImportError:
        pass
    return files


def mutated(content, rng):
    """Return a file with some bytes changed, cut, doubled or put in."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(content) + 1))
        stop = place + int(rng.integers(0, 8))
        kind = rng.integers(6)
        if kind == 0 and place < len(content):
            content[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            content[place:stop] = rng.bytes(int(rng.integers(0, 8)))
        elif kind == 2:
            content[place:place] = TOKENS[rng.integers(len(TOKENS))]
        elif kind == 3:
            content[place:stop] = TOKENS[rng.integers(len(TOKENS))]
        elif kind == 4:
            content[place:place] = content[place : place + int(rng.integers(1, 60))]
        else:
            del content[place : place + int(rng.integers(1, 60))]
    if rng.integers(10) == 0:
        del content[int(rng.integers(len(content) + 1)) :]
    return bytes(content)
