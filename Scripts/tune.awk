# Writes the project's own tune of eight seconds as WAV (44.1 kHz, 16 bit, stereo) to standard output.
# usage: LC_ALL=C awk -f Scripts/tune.awk > tune.wav
# A note is two decaying sines, each computed by its recurrence y[n] = 2 cos(w) y[n-1] - y[n-2].

function little(value, bytes,    i) {
    if (value < 0) value += 256 ^ bytes
    for (i = 0; i < bytes; i++) { printf "%c", value % 256; value = int(value / 256) }
}

# A chunk of text, its NUL counted, padded to an even length.
function text(id, words) {
    printf "%s", id; little(length(words) + 1, 4); printf "%s%c", words, 0
    if (length(words) % 2 == 0) printf "%c", 0
}

# Bytes that text() writes.
function size(words) { return 8 + length(words) + 2 - length(words) % 2 }

# Adds a partial of `hertz` from second `start`; it falls to a thousandth in `ring` seconds. `right` is 0 (left) to 1.
function partial(start, hertz, loudness, ring, right,    n, last, w, fall, two, a, b, y, left) {
    n = int(start * rate); last = n + int(ring * rate); if (last > frames) last = frames
    w = 2 * pi * hertz / rate; fall = exp(log(0.001) / (ring * rate))
    two = 2 * cos(w) * fall; fall = fall * fall
    a = 0; b = -loudness * sin(w) / sqrt(fall)
    left = 1 - right
    for (; n < last; n++) {
        y = two * a - fall * b; b = a; a = y
        l[n] += left * y; r[n] += right * y
    }
}

function note(start, semitone, loudness, ring, right,    hertz) {
    hertz = 440 * 2 ^ ((semitone - 69) / 12)
    partial(start, hertz, loudness, ring, right)
    partial(start, 2 * hertz, loudness * 0.28, ring * 0.6, right)
}

BEGIN {
    rate = 44100; pi = 3.14159265358979; frames = 8 * rate
    title = "Hello from nowplayingd"; artist = "nowplayingd"

    # Four bars of an arpeggio over a bass note, then the tonic chord. MIDI note numbers.
    split("48 60 64 67 72 67 64 45 57 60 64 69 64 60 41 57 60 65 69 65 60 43 59 62 67 71 67 62", score, " ")
    step = 0.25; at = 0.05; place = 0
    for (bar = 0; bar < 4; bar++) {
        note(at, score[++place], 11500, 1.9, 0.5)
        for (beat = 0; beat < 6; beat++) { note(at, score[++place], 9500, 1.1, 0.25 + 0.1 * beat); at += step }
    }
    split("48 60 64 67 72 76", home, " ")
    for (i = 1; i <= 6; i++) note(at + 0.03 * i, home[i], 8000, 1.75, 0.1 + 0.14 * i)

    data = frames * 4
    info = 4 + size(title) + size(artist)
    printf "RIFF"; little(4 + 24 + 8 + info + 8 + data, 4); printf "WAVE"
    printf "fmt "; little(16, 4); little(1, 2); little(2, 2); little(rate, 4); little(rate * 4, 4); little(4, 2); little(16, 2)
    printf "LIST"; little(info, 4); printf "INFO"; text("INAM", title); text("IART", artist)
    printf "data"; little(data, 4)
    fade = frames - int(0.15 * rate)
    for (n = 0; n < frames; n++) {
        gain = n < fade ? 1 : (frames - n) / (frames - fade)
        v = int(l[n] * gain); if (v < 0) v += 65536; printf "%c%c", v % 256, int(v / 256)
        v = int(r[n] * gain); if (v < 0) v += 65536; printf "%c%c", v % 256, int(v / 256)
    }
}
