# Chooses inputs for Scripts/fuzz, from the account that libFuzzer keeps when it merges: the one that reaches most first, then
# each that reaches most of what was not reached yet, of two like that the smaller one, as long as there is room, 64 at most.
# The account: how many files, how many of them were there before, their names; then for each, by its number from 0 on,
# "STARTED NUMBER BYTES" and "FT NUMBER FEATURE…".
NR == 1 { count = $1; next }
NR == 2 { next }
NR <= count + 2 { name[NR - 3] = $0; next }
$1 == "STARTED" { bytes[$2] = $3 }
$1 == "FT" { features[$2] = substr($0, length($1) + length($2) + 3) }

END {
    for (chosen = 0; chosen < 64; chosen++) {
        best = -1
        most = 0
        for (file in features) {
            if (bytes[file] < 1 || bytes[file] > longest || bytes[file] > room) continue
            if (name[file] ~ /\/crash-[^\/]*$/) continue
            # What is left of it was counted once, and is only ever less.
            if (file in left && left[file] < most) continue
            n = split(features[file], each, " ")
            new = 0
            for (i = 1; i <= n; i++) if (!(each[i] in reached)) new++
            left[file] = new
            if (new > most || new == most && new > 0 && bytes[file] < bytes[best]) {
                best = file
                most = new
            }
        }
        if (best < 0) exit
        n = split(features[best], each, " ")
        for (i = 1; i <= n; i++) reached[each[i]]
        room -= bytes[best]
        print name[best]
        delete features[best]
    }
}
