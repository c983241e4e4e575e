#!/usr/bin/env python3
"""Packs folders into archives beside them, the same bytes from the same files, and writes SHA256SUMS of all archives there.

    SOURCE_DATE_EPOCH=SECONDS release/archive.py tar.gz|zip FOLDER...
"""

import gzip
import hashlib
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path


def tar_gz(folder, files, out, seconds):
    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, seconds) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for file in files:
                entry = archive.gettarinfo(file, file.relative_to(folder.parent).as_posix())
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = ""
                entry.mtime = seconds
                entry.mode = 0o755 if entry.mode & 0o100 else 0o644
                with open(file, "rb") as content:
                    archive.addfile(entry, content)


def zipped(folder, files, out, seconds):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.relative_to(folder.parent).as_posix(), time.gmtime(seconds)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def main():
    kind, *folders = sys.argv[1:]
    seconds = int(os.environ["SOURCE_DATE_EPOCH"])
    for folder in map(Path, folders):
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if not files:
            raise SystemExit(f"{folder} has no file")
        (zipped if kind == "zip" else tar_gz)(folder, files, f"{folder}.{kind}", seconds)
    place = Path(folders[0]).parent
    archives = sorted([*place.glob("*.tar.gz"), *place.glob("*.zip"), *place.glob("*.deb"), *place.glob("*.whl")])
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in archives)
    (place / "SHA256SUMS").write_bytes("".join(lines).encode())


main()
