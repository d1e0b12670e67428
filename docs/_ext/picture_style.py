"""How pictures look on a page: dark lines on white, which light and dark pages show with the same contrast."""

#: Contrast 12 with white.
INK = "#333333"

STYLE = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "legend.framealpha": 0.0,
    "legend.labelcolor": INK,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "font.size": 10.5,
    "axes.titlesize": 11,
    "svg.hashsalt": "evencut",
}


def apply():
    """Draw in this style from now on, without a window."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcdefaults()
    matplotlib.use("agg")
    matplotlib.rcParams.update(STYLE)


def reset(gallery_conf, name):
    """Begin an example of the gallery in this style, with no figure open."""
    import matplotlib.pyplot as plt

    plt.close("all")
    apply()
