"""Functions that every other folder uses, without any mathematics.

These functions check arrays and numbers, parse names, read and write files within limits, control
threads, and look at the clock before long calls.
"""

from indefinite_opt.foundation import checks, naming
from indefinite_opt.foundation.arrays import (
    EPS,
    LEAST,
    SYMMETRY_TOLERANCE,
    TASKS,
    TILE_ENTRIES,
    TINY,
    Array,
    Labels,
    Values,
    as_array,
    checked_labels,
    checked_points,
    checked_values,
    copied,
    finite_array,
    frozen,
    is_sparse,
    label_vector,
    labelled,
    power_near,
    read_only,
    real_array,
    refuse_mask,
    rounding_of,
    symmetry_tolerance,
    tiles,
    type_of,
)
from indefinite_opt.foundation.cached import cached_property, derived, derived_values
from indefinite_opt.foundation.clusters import connected
from indefinite_opt.foundation.files import (
    MAX_BYTES,
    parsed_json,
    read_arrays,
    read_bytes,
    read_json,
    write_bytes,
    writing,
)
from indefinite_opt.foundation.limits import (
    LONG,
    SECONDS_BEYOND_LIMIT,
    TimeLimitReached,
    afford,
    clock,
    limited,
    seconds_left,
)
from indefinite_opt.foundation.memory import large_array
from indefinite_opt.foundation.naming import (
    as_instance,
    discover,
    instantiate,
    parse_call,
    short,
    split_calls,
)
from indefinite_opt.foundation.notebooks import html_card
from indefinite_opt.foundation.threads import (
    interrupts_held,
    libraries,
    one_thread,
    pool,
    thread_count,
)
from indefinite_opt.foundation.user_code import of_user_code, split_source
from indefinite_opt.foundation.version import version_of
