"""What every other folder uses, and what knows no mathematics.

These functions check arrays and numbers, parse names, read and write files within limits, control
threads, and end long calls in time.
"""

from indefinite_opt.foundation import checks, naming
from indefinite_opt.foundation.arrays import (
    EPS,
    PRECISIONS,
    SYMMETRY_TOLERANCE,
    Array,
    Stored,
    Values,
    checked_distances,
    checked_labels,
    checked_matrix,
    checked_points,
    checked_precision,
    checked_square,
    checked_values,
    finite_array,
    label_vector,
    real_array,
    refuse_mask,
    stored,
)
from indefinite_opt.foundation.cached import cached_property, derived
from indefinite_opt.foundation.files import (
    MAX_BYTES,
    parsed_json,
    read_arrays,
    read_bytes,
    read_json,
    write_bytes,
    writing,
)
from indefinite_opt.foundation.interruptible import (
    LONG,
    SECONDS_BEYOND_LIMIT,
    TimeLimitReached,
    in_child,
    limited,
    within,
)
from indefinite_opt.foundation.loops import clock, clock_stopped, compiled, read_only
from indefinite_opt.foundation.naming import instantiate, parse_call, split_calls
from indefinite_opt.foundation.notebooks import html_card
from indefinite_opt.foundation.registry import discover
from indefinite_opt.foundation.scans import LOOPED_ENTRIES, checksum, read_rows
from indefinite_opt.foundation.threads import (
    TILE,
    TILE_ENTRIES,
    in_tiles,
    interrupts_held,
    one_thread,
    pool,
    product,
    thread_count,
    tiles,
)

__all__ = [
    "EPS",
    "LONG",
    "LOOPED_ENTRIES",
    "MAX_BYTES",
    "PRECISIONS",
    "SECONDS_BEYOND_LIMIT",
    "SYMMETRY_TOLERANCE",
    "TILE",
    "TILE_ENTRIES",
    "Array",
    "Stored",
    "TimeLimitReached",
    "Values",
    "cached_property",
    "checked_distances",
    "checked_labels",
    "checked_matrix",
    "checked_points",
    "checked_precision",
    "checked_square",
    "checked_values",
    "checks",
    "checksum",
    "clock",
    "clock_stopped",
    "compiled",
    "derived",
    "discover",
    "finite_array",
    "html_card",
    "in_child",
    "in_tiles",
    "instantiate",
    "interrupts_held",
    "label_vector",
    "limited",
    "naming",
    "one_thread",
    "parse_call",
    "parsed_json",
    "pool",
    "product",
    "read_arrays",
    "read_bytes",
    "read_json",
    "read_only",
    "read_rows",
    "real_array",
    "refuse_mask",
    "split_calls",
    "stored",
    "thread_count",
    "tiles",
    "within",
    "write_bytes",
    "writing",
]
