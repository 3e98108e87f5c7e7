//! Functions of Python that exported ones call, where the array API has none: the meaning of
//! `÷` at `0÷0`, of comparisons within ⎕CT, of places.
//!
//! A module holds those that it uses, and those that these call.

/// A helper: its name, the helpers that it calls, its text.
pub struct Helper {
    /// The name.
    pub name: &'static str,
    calls: &'static [&'static str],
    /// The definition.
    pub text: &'static str,
}

const HELPERS: &[Helper] = &[
    Helper {
        name: "_div_floor",
        calls: &[],
        text: r#"def _div_floor(x, by):
    """The greatest whole number that is not above x / by, of extents."""
    return x // by
"#,
    },
    Helper {
        name: "_divide",
        calls: &[],
        text: r#"def _divide(xp, x, y):
    """x / y, and 1 where both are 0."""
    both = (x == 0) & (y == 0)
    return xp.where(both, 1.0, x / xp.where(both, 1.0, y))
"#,
    },
    Helper {
        name: "_equal",
        calls: &[],
        text: r#"def _equal(xp, x, y, ct):
    """x == y, or no further apart than ct times the greater magnitude."""
    a, b = abs(x), abs(y)
    return (x == y) | (abs(x - y) <= ct * xp.where(a > b, a, b))
"#,
    },
    Helper {
        name: "_floor",
        calls: &[],
        text: r#"def _floor(xp, x, ct):
    """The greatest whole number that is not above x, within ct."""
    low, size = xp.floor(x), xp.abs(x)
    near = (low + 1.0 - x <= ct * xp.where(size > 1.0, size, 1.0)) & (low != x)
    return xp.where(near, low + 1.0, low)
"#,
    },
    Helper {
        name: "_residue",
        calls: &[],
        text: r#"def _residue(xp, x, y, ct):
    """y modulo x with the sign of x; y where x is 0; 0 where y / x is whole within ct."""
    x, y = x + 0.0 * y, y + 0.0 * x
    some = xp.where(x == 0, 1.0, x)
    q, r = y / some, y % some
    near = xp.abs(q - xp.round(q)) <= ct * xp.abs(q)
    whole = (xp.floor(some) == some) & (xp.floor(y) == y)
    return xp.where(x == 0, y, xp.where(near & ~whole, 0.0, r))
"#,
    },
    Helper {
        name: "_gcd",
        calls: &["_computed"],
        text: r#"def _gcd(xp, x, y):
    """The greatest common divisor of whole numbers."""
    x, y = xp.abs(x + 0.0 * y), xp.abs(y + 0.0 * x)
    while bool(xp.any(y > 0)):
        more = y > 0
        rest = xp.where(more, x % xp.where(more, y, 1.0), 0.0)
        x, y = _computed(xp.where(more, y, x), rest)
    return x
"#,
    },
    Helper {
        name: "_lcm",
        calls: &["_computed", "_gcd"],
        text: r#"def _lcm(xp, x, y):
    """The least common multiple of whole numbers."""
    none = (x == 0) | (y == 0)
    return xp.where(none, 0.0, x * xp.round(y / xp.where(none, 1.0, _gcd(xp, x, y))))
"#,
    },
    Helper {
        name: "_iota",
        calls: &[],
        text: r#"def _iota(xp, shape, axis):
    """The place along an axis, for all places of a shape."""
    ones = [1] * len(shape)
    ones[axis] = shape[axis]
    return xp.broadcast_to(xp.reshape(xp.arange(shape[axis]), tuple(ones)), shape)
"#,
    },
    Helper {
        name: "_at",
        calls: &[],
        text: r#"def _at(xp, x, place):
    """The items of x, row by row, at places."""
    items = xp.take(xp.reshape(x, (-1,)), xp.reshape(place, (-1,)), axis=0)
    return xp.reshape(items, place.shape)
"#,
    },
    Helper {
        name: "_blocks",
        calls: &[],
        text: r#"def _blocks(part, of):
    """The part of an array in blocks as long as the array's longest: of a Dask array each takes
    what it lacks from its neighbours, and no more. All others have no blocks."""
    if not hasattr(part, "rechunk"):
        return part
    return part.rechunk(tuple(max(1, *sizes) for sizes in of.chunks))
"#,
    },
    Helper {
        name: "_pad",
        calls: &["_blocks"],
        text: r#"def _pad(xp, x, sides, fill):
    """x with so many fills before and behind it along each axis."""
    of = x
    for axis, (before, behind) in enumerate(sides):
        def block(n):
            shape = x.shape[:axis] + (n,) + x.shape[axis + 1 :]
            return xp.full(shape, fill, dtype=x.dtype)

        parts = [block(n) for n in (before,) if n] + [x] + [block(n) for n in (behind,) if n]
        x = xp.concat(parts, axis=axis) if len(parts) > 1 else x
    return _blocks(x, of)
"#,
    },
    Helper {
        name: "_computed",
        calls: &[],
        text: r#"def _computed(*all):
    """Arrays that are there: a round that is put off would be done again in each one behind it."""
    return tuple(x.persist() if hasattr(x, "persist") else x for x in all)
"#,
    },
    Helper {
        name: "_scan",
        calls: &["_along"],
        text: r#"def _scan(xp, x, axis, name):
    """The fold of each prefix: of a Dask array of each block, then with what stands before it."""
    if hasattr(x, "rechunk"):
        import dask.array
        import numpy

        one = getattr(numpy, name)
        first = {"maximum": -numpy.inf, "minimum": numpy.inf, "multiply": 1.0}[name]
        scan = dask.array.reductions.cumreduction
        return scan(one.accumulate, one, first, x, axis=axis, dtype=x.dtype)
    if not x.shape[axis]:
        return x
    parts = [_along(x, axis, 0)]
    for k in range(1, x.shape[axis]):
        parts.append(getattr(xp, name)(parts[-1], _along(x, axis, k)))
    return xp.stack(parts, axis=axis)
"#,
    },
    Helper {
        name: "_along",
        calls: &[],
        text: r#"def _along(x, axis, k):
    """The k-th part of x along an axis."""
    return x[(slice(None),) * axis + (k, ...)]
"#,
    },
    Helper {
        name: "_shaped",
        calls: &[],
        text: r#"def _shaped(name, x, shape):
    if x.shape != shape:
        raise ValueError(f"{name} has shape {x.shape}, not {shape}")
"#,
    },
];

/// The helpers that a text calls, in the order of the table.
pub fn called_in(text: &str) -> Vec<&'static Helper> {
    let calls = |text: &str, name: &str| text.contains(&format!("{name}("));
    let direct = |h: &&Helper| calls(text, h.name);
    let mut names: Vec<&str> = HELPERS.iter().filter(direct).map(|h| h.name).collect();
    let more = HELPERS.iter().filter(|h| names.contains(&h.name)).flat_map(|h| h.calls);
    let more: Vec<&str> = more.copied().collect();
    names.extend(more);
    HELPERS.iter().filter(|h| names.contains(&h.name)).collect()
}
