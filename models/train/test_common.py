"""Tests of what several scripts need of files and folders."""

import re
import tempfile
import unittest
from pathlib import Path

import torch

from common import make_folder, whole
from train import save


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def test_a_file_is_there_as_a_whole_or_not_at_all(self):
        path = self.folder / "a.npz"
        for text in ("one", "another"):
            with whole(path) as partial:
                partial.write_text(text)
                self.assertNotEqual(path.exists() and path.read_text(), text)
            self.assertEqual((self.names(), path.read_text()), (["a.npz"], text))
        with self.assertRaisesRegex(OSError, "full"), whole(path) as partial:
            partial.write_text("half")
            raise OSError("the disk is full")
        self.assertEqual((self.names(), path.read_text()), (["a.npz"], "another"))

    def test_a_checkpoint_that_cannot_be_written_is_named_in_a_line(self):
        path = self.folder / "none" / "checkpoint.pt"
        with self.assertRaisesRegex(OSError, f"^{re.escape(str(path))} cannot be written[^\n]*$"):
            save(path, {"weights": torch.zeros(3)})
        save(self.folder / "checkpoint.pt", {"weights": torch.ones(3)})
        self.assertEqual(self.names(), ["checkpoint.pt"])

    def test_a_folder_that_cannot_be_made_is_named(self):
        (self.folder / "file").touch()
        with self.assertRaisesRegex(SystemExit, "file/packed"):
            make_folder(self.folder / "file" / "packed")
        make_folder(self.folder / "some" / "packed")
        make_folder(self.folder / "some" / "packed")
        self.assertEqual(self.names(), ["file", "some"])
