"""Music of the tests: albums that do not exist, and their abstract covers."""

# Album, artist, year, titles, and the colours of the cover: dark, middle, light.
ALBUMS = [
    (
        "Tidewater",
        "Marlow & the Lamps",
        "2024",
        ["Harbour Lights", "Slow Ferry", "Salt on Glass", "The Long Pier"],
        ("#0b3c5d", "#1d8a99", "#f4b860"),
    ),
    ("Paper Moons", "Ines Carvalho", "2019", ["Origami", "Blue Hour", "Letters Home"], ("#5b2a86", "#c04ab0", "#ffd6a5")),
    (
        "Night Trains",
        "The Ostend Trio",
        "2021",
        ["Departure", "Tunnel Song", "Last Coach", "Arrival"],
        ("#14213d", "#8d2f3f", "#fca311"),
    ),
    ("Kōgen", "Haruka Ito", "2023", ["高原", "Cedar", "Mist"], ("#1b4332", "#52b788", "#f1faee")),
    ("Desert Radio", "Sol y Arena", "2018", ["Onda Corta", "Mirage", "FM 98"], ("#7f4f24", "#e09f3e", "#fff3b0")),
    ("Glass Garden", "Ada Winter", "2022", ["Greenhouse", "Frost", "First Leaf"], ("#26413c", "#7ea16b", "#f5e2c8")),
]


def sea(dark, middle, light):
    return (
        f'<circle cx="300" cy="330" r="150" fill="{light}"/>'
        f'<path d="M0 380q150-50 300 0t300 0v220H0z" fill="{dark}" opacity=".85"/>'
        f'<path d="M0 450q150-40 300 0t300 0v150H0z" fill="{dark}"/>'
    )


def moons(dark, middle, light):
    return "".join(
        f'<circle cx="{190 + 44 * n}" cy="300" r="{170 - 26 * n}" fill="{light if n % 2 else middle}" '
        f'opacity="{0.35 + n * 0.1}"/>'
        for n in range(6)
    )


def rails(dark, middle, light):
    return "".join(
        f'<rect x="{-100 + 110 * n}" y="-60" width="52" height="760" fill="{light if n % 3 else middle}" '
        'opacity=".75" transform="rotate(24 300 300)"/>'
        for n in range(8)
    )


def mountains(dark, middle, light):
    return (
        f'<path d="M0 430L170 220l110 130 120-190 200 270v170H0z" fill="{middle}"/>'
        f'<path d="M0 520l220-150 140 90 120-80 120 110v110H0z" fill="{dark}"/>'
        f'<circle cx="450" cy="130" r="56" fill="{light}"/>'
    )


def waves(dark, middle, light):
    radii = [60 + 42 * n for n in range(6)]
    arcs = "".join(
        f'<path d="M{300 - r} 300a{r} {r} 0 0 1 {2 * r} 0" fill="none" stroke="{light}" stroke-width="16" '
        f'opacity="{1 - n * 0.13}"/>'
        for n, r in enumerate(radii)
    )
    return arcs + f'<rect y="300" width="600" height="300" fill="{dark}" opacity=".9"/>'


def flower(dark, middle, light):
    return (
        "".join(
            f'<ellipse cx="300" cy="210" rx="62" ry="150" fill="{light if n % 2 else middle}" opacity=".72" '
            f'transform="rotate({n * 45} 300 300)"/>'
            for n in range(8)
        )
        + f'<circle cx="300" cy="300" r="40" fill="{dark}"/>'
    )


def cover(number):
    """The cover of an album as SVG, 600 by 600."""
    colours = ALBUMS[number][4]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"><defs><linearGradient id="g" x2=".6" y2="1">'
        f'<stop stop-color="{colours[1]}"/><stop offset="1" stop-color="{colours[0]}"/></linearGradient></defs>'
        f'<rect width="600" height="600" fill="url(#g)"/>'
        f'{[sea, moons, rails, mountains, waves, flower][number](*colours)}</svg>'
    )
