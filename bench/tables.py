"""How figures are printed."""

from setting import KB, MB


def human(ns):
    if isinstance(ns, str):
        return ns
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def size_name(size):
    return f"{size // MB} MB" if size >= MB else f"{size // KB} KB"


def memory_name(kib):
    return f"{kib * 1024 / MB:.1f} MB"


def table(title, header, rows):
    print(f"\n## {title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def against(ours, theirs, name=human):
    """`figure (ratio ×)`: how many times more the peer takes."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return name(theirs)
    return f"{name(theirs)} ({theirs / ours:,.1f}×)"


def growth(now, before, size, previous):
    """How much longer `size` takes than `previous`, and what linear would be."""
    if previous is None or isinstance(now, str) or isinstance(before, str):
        return "–"
    return f"{now / before:.0f}× for {size // previous}×"
