"""Charts of the tables of measured results: what a table says, seen at once and also on a telephone.

A table is drawn if its columns are known here: bars for methods with a quality and a cost, a matrix where several
data sets are compared, a curve of the gaps of many problems. Other tables stay tables.
"""

import math
import re

import picture_style

#: Columns that tell how good something is, and what it costs; the first of each that a table has is drawn.
QUALITY = ("mean ARI", "ARI", "recall", "NoC@90", "ARI of all")
COST = ("CPU s, all sets", "CPU s", "s")
#: Columns that compare ours with another's, side by side in one row; with the title of their chart.
PAIRS = (
    ("evencut mean", "OpenCV mean", "mean error, %"),
    ("evencut CPU s", "OpenCV CPU s", "CPU s"),
    ("device s", "CPU s", "seconds"),
)
_OURS, _OTHERS = "#0072B2", "#D55E00"
# Drawn at the width of a telephone's page, so that letters keep their size there.
_WIDTH = 4.6


def draw_table(header, rows, path):
    """Draw a table into an SVG file; what the chart shows in words, or None where the table is not one to draw."""
    for draw in (panels, gaps, pairs, bars):
        figure, text = draw(header, rows)
        if figure is not None:
            import matplotlib.pyplot as plt

            figure.savefig(path)
            plt.close(figure)
            return text
    return None


def number(cell):
    """The number a cell begins with, or None."""
    found = re.match(r"\**\s*([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)", cell.strip())
    return float(found[1].replace(",", "")) if found else None


def plain(cell):
    """A cell without marks of emphasis or code."""
    return cell.replace("*", "").replace("`", "").strip()


def figure_of(rows, columns, height):
    """A figure in the style of the site."""
    import matplotlib.pyplot as plt

    picture_style.apply()
    plt.rcParams.update({"font.size": 8.5, "axes.titlesize": 9, "svg.fonttype": "path"})
    return plt.subplots(rows, columns, figsize=(_WIDTH, height), layout="constrained", squeeze=False)


def bars(header, rows):
    """Bars of a quality and a cost, a line a method; ours in blue. Dots on a logarithmic axis, which has no zero."""
    shown = [next((name for name in names if name in header), None) for names in (QUALITY, COST)]
    shown = [name for name in shown if name]
    if not shown or not 2 <= len(rows) <= 14 or header[0] in shown or number(rows[0][0]) is not None:
        return None, None
    columns = {name: [number(row[header.index(name)]) for row in rows] for name in shown}
    columns = {name: values for name, values in columns.items() if sum(v is not None for v in values) >= 2}
    if not columns:
        return None, None
    names = [plain(row[0]) for row in rows]
    any_ours = any("evencut" in name for name in names)
    colors = [_OURS if "evencut" in name or not any_ours else _OTHERS for name in names]
    figure, axes = figure_of(1, len(columns), 0.55 + 0.27 * len(names))
    for ax, (name, values) in zip(axes[0], columns.items()):
        known = [0 if value is None else value for value in values]
        positive = [value for value in known if value > 0]
        if name in COST and max(positive) > 20 * min(positive):
            ax.scatter(known, range(len(names)), color=colors, s=22)
            ax.set_xscale("log")
        else:
            ax.barh(range(len(names)), known, color=colors, height=0.7)
        ax.set(title="seconds" if name == "s" else name, ylim=(len(names) - 0.5, -0.5))
        ax.set_yticks(range(len(names)), [shorten(one) for one in names] if ax is axes[0, 0] else [])
        ax.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
    return figure, f"Bars of {' and '.join(columns)} for {', '.join(names)}"


def panels(header, rows):
    """A line a method and a column a data set: ARI as shade and number, CPU seconds below it."""
    wanted = ("data", "method", "CPU s", "ARI")
    if any(name not in header for name in wanted):
        return None, None
    place = [header.index(name) for name in wanted]
    found = {}
    for row in rows:
        data, method, cpu, score = (row[one] for one in place)
        if number(cpu) is not None and number(score) is not None:
            found[plain(method), plain(data)] = number(score), number(cpu)
    methods, sets = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    if len(sets) < 2:
        return None, None
    figure, axes = figure_of(1, 1, 1.8 + 0.33 * len(methods))
    ax = axes[0, 0]
    shades = [[found.get((method, data), (math.nan,))[0] for data in sets] for method in methods]
    ax.imshow(shades, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for (method, data), (score, cpu) in found.items():
        where = {"ha": "center", "va": "center", "color": "white" if score > 0.6 else "black"}
        ax.text(sets.index(data), methods.index(method), f"{score:.2f}\n{cpu:.3g} s", fontsize=6, **where)
    ax.set_xticks(range(len(sets)), [shorten(one) for one in sets], fontsize=6.5, rotation=90)
    ax.set_yticks(range(len(methods)), [shorten(method) for method in methods], fontsize=7)
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    for side in ax.spines.values():
        side.set_visible(False)
    return figure, f"ARI and CPU seconds of {', '.join(methods)}, a column a data set; dark is better"


def pairs(header, rows):
    """Two bars a line, ours and the other's, for every pair of columns that the table has."""
    shown = [pair for pair in PAIRS if pair[0] in header and pair[1] in header]
    if not shown:
        return None, None
    names = [plain(row[0]) for row in rows]
    figure, axes = figure_of(1, len(shown), 0.9 + 0.45 * len(names))
    for ax, (ours, others, title) in zip(axes[0], shown):
        for shift, column, color in ((-0.2, ours, _OURS), (0.2, others, _OTHERS)):
            values = [number(row[header.index(column)]) or 0 for row in rows]
            ax.barh([place + shift for place in range(len(names))], values, color=color, height=0.36, label=column)
        ax.set(title=title, ylim=(len(names) - 0.5, -0.5))
        ax.set_yticks(range(len(names)), [shorten(one) for one in names] if ax is axes[0, 0] else [])
        ax.tick_params(axis="y", length=0)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure, f"Bars of {', '.join(f'{ours} beside {others}' for ours, others, _ in shown)}"


def gaps(header, rows):
    """The gaps of many problems in rising order."""
    if "gap" not in header or len(rows) < 20:
        return None, None
    values = sorted(number(row[header.index("gap")]) or 0.0 for row in rows)
    figure, axes = figure_of(1, 1, 2.2)
    ax = axes[0, 0]
    ax.step(range(1, len(values) + 1), values, where="mid", color=_OURS)
    ax.axhline(1, color=_OTHERS, lw=0.8, ls="--")
    ax.set(yscale="symlog", xlabel="problems, best first", ylabel="gap to the best known, %", ylim=(0, None))
    return figure, f"The gaps of {len(values)} problems in rising order; the dashed line is one per cent"


def shorten(name, longest=26):
    """A name that leaves room for the bars, on two lines where it is long."""
    if len(name) <= longest:
        return name
    middle = name.rfind(" ", 0, longest)
    return name[:middle] + "\n" + name[middle + 1 :] if middle > 0 else name
