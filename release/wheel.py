#!/usr/bin/env python3
"""Packs the program of an archive's folder, with the package in `python`, as a wheel beside the folder; the same bytes
from the same files.

    SOURCE_DATE_EPOCH=SECONDS release/wheel.py dist/zeitnot-VERSION-TARGET

The wheel gives the command `zeitnot`, `python -m zeitnot`, and the package that docs/python.md describes.
"""

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path

# The platforms of a wheel: the oldest system that the target's programs run on.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "aarch64-unknown-linux-gnu": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "x86_64-unknown-linux-musl": "musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "musllinux_1_1_aarch64",
    "x86_64-pc-windows-gnu": "win_amd64",
    "x86_64-pc-windows-msvc": "win_amd64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
}

# The extras: what python-chess, frames, arrays and bars need.
EXTRAS = {"chess": ["chess>=1.10"], "all": ["chess>=1.10", "numpy", "pandas", "tqdm"]}


def main():
    folder = Path(sys.argv[1])
    version, target = re.fullmatch(r"zeitnot-([0-9.]+)-(.*)", folder.name).groups()
    if target not in PLATFORMS:
        return print(f"no wheel: {target} has no name among the platforms of wheels", file=sys.stderr)
    tag = f"py3-none-{PLATFORMS[target]}"
    program = "zeitnot.exe" if "windows" in target else "zeitnot"
    root = Path(__file__).parent.parent
    summary = re.search(r'^description = "(.*)"$', (root / "Cargo.toml").read_text(), re.M)[1]
    modules = [file for file in sorted((root / "python/zeitnot").iterdir()) if file.suffix in (".py", ".typed")]
    licences = ["LICENSE", "LICENSES-OF-CRATES.txt"]
    metadata = ["Metadata-Version: 2.4", "Name: zeitnot", f"Version: {version}", f"Summary: {summary}"]
    metadata += ["License-Expression: GPL-3.0-or-later", *(f"License-File: {name}" for name in licences)]
    metadata += ["Keywords: chess,engine,uci,lc0", "Requires-Python: >=3.10"]
    metadata += [f"Provides-Extra: {extra}" for extra in EXTRAS]
    metadata += [f"Requires-Dist: {name}; extra == '{extra}'" for extra, names in EXTRAS.items() for name in names]
    wheel = ["Wheel-Version: 1.0", "Generator: zeitnot", "Root-Is-Purelib: false"]
    wheel += [f"Tag: py3-none-{platform}" for platform in PLATFORMS[target].split(".")]
    info = f"zeitnot-{version}.dist-info"
    files = {
        f"zeitnot-{version}.data/scripts/{program}": (folder / program).read_bytes(),
        **{f"zeitnot/{file.name}": file.read_bytes() for file in modules},
        **{f"{info}/licenses/{name}": (folder / name).read_bytes() for name in licences},
        f"{info}/METADATA": "".join(f"{line}\n" for line in metadata).encode(),
        f"{info}/WHEEL": "".join(f"{line}\n" for line in wheel).encode(),
    }
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(folder.with_name(f"zeitnot-{version}-{tag}.whl"), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3  # as Unix does, whose permissions follow
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(program) else 0o100644) << 16
            out.writestr(entry, content)


main()
