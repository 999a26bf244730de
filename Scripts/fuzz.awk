# Chooses inputs for Scripts/fuzz from the control file of libFuzzer's merge. It chooses the input with the most features
# first, then repeatedly the input with the most unreached features, and the smaller one of two equals. It stops without
# room, and at 64 inputs. The control file: the number of files, the number of earlier ones, their names; then for each, by
# its number from 0, "STARTED NUMBER BYTES" and "FT NUMBER FEATURE…".
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
            # The number of unreached features was counted before, and can only fall.
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
