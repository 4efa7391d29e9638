//! Keys in which names sort as people number them: `2` before `10`, `bd-2` before `bd-10`.
