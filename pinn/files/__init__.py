"""Files that are either whole or not there, strict readers of what was written, and a lock."""

from pinn.files.atomic import atomic_file, is_leftover, write_bytes, write_text
from pinn.files.columns import TABLE_SUFFIXES, Columns, numbers_of
from pinn.files.errors import DamagedFile, disk_error, sentence_of
from pinn.files.json_text import from_json, to_json, write_json
from pinn.files.lock import FileLock
from pinn.files.npz import read_npz, write_npz
from pinn.files.plain import open_plain, read_plain, too_large
from pinn.files.reserve import Reserve

__all__ = [
    "TABLE_SUFFIXES", "Columns", "DamagedFile", "FileLock", "Reserve", "atomic_file", "disk_error",
    "from_json", "is_leftover", "numbers_of", "open_plain", "read_npz", "read_plain", "sentence_of",
    "to_json", "too_large", "write_bytes", "write_json", "write_npz", "write_text",
]
