"""Reading files: texts, tables, parses. This needs no torch, so a wrong file is refused at once."""

from headlight.files.opening import existing, is_file, is_folder, lines_of, read_text
from headlight.files.parsing import parse_json
from headlight.files.skipped import Say, Skipped, say
from headlight.files.tables import TABLES, Record, Table, open_table, read_records
from headlight.files.texts import EMPTY, TEXT_COLUMNS, listed, read_texts, text_in

__all__ = [
    "EMPTY",
    "TABLES",
    "TEXT_COLUMNS",
    "Record",
    "Say",
    "Skipped",
    "Table",
    "existing",
    "is_file",
    "is_folder",
    "lines_of",
    "listed",
    "open_table",
    "parse_json",
    "read_records",
    "read_text",
    "read_texts",
    "say",
    "text_in",
]
