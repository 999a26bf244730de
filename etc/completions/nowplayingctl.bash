# bash completion for nowplayingctl

_nowplayingctl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb="" word index
    local verbs="play pause stop toggle next previous skip seek volume mute unmute rate chapters scan like dislike rating bookmark sleep loudness repeat shuffle add
        queue remove move clear
        announce session outputs output formats artwork commands configure status follow watch wait hooks reload doctor top setup call
        quit help
        current metadata position open insert crop"
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $word in
            --socket | --session | --run | --commands | --timeout | --format | -f | --position | --at | --intervals | --rates | --reason | --preamp | --size | --output | --policy | --duck-to | --ramp | --volume | --priority)
                ((index++))
                ;;
            -*) ;;
            *)
                verb=$word
                break
                ;;
        esac
    done
    COMPREPLY=()
    case $previous in
        --policy)
            mapfile -t COMPREPLY < <(compgen -W "duck pause pauseSpoken mix" -- "$current")
            return
            ;;
        --socket | --output | --run)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
            ;;
        --session | --commands | --timeout | --format | -f | --position | --at | --intervals | --rates | --reason | --preamp | --size | --duck-to | --ramp | --volume | --priority) return ;;
    esac
    local options="--session --socket --json --timeout --help --version"
    case $verb in
        play) options+=" --position --watch" ;;
        like | dislike | bookmark) options+=" --undo" ;;
        skip | scan) options+=" --back" ;;
        mute) options+=" --toggle" ;;
        loudness) options+=" --preamp" ;;
        artwork) options+=" --size --inside --kind --aspect --output" ;;
        sleep) options+=" --fade" ;;
        session) options+=" --policy --duck-to --ramp --unpublished --commands --run" ;;
        announce) options+=" --policy --duck-to --volume --priority" ;;
        add) options+=" --next --at --play" ;;
        configure) options+=" --intervals --rates --enable --disable --reason" ;;
        status | metadata) options+=" --format --follow --tick" ;;
        follow) options+=" --format --tick" ;;
        volume | queue | watch | current | position) options+=" --format" ;;
        wait) options+=" --next --format" ;;
        setup) options+=" --check --yes" ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        return
    fi
    case $verb in
        "" | help) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current") ;;
        play | add | open | insert | doctor | announce)
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            ;;
        session) mapfile -t COMPREPLY < <(compgen -W "list create activate close publish" -- "$current") ;;
        repeat | loop) mapfile -t COMPREPLY < <(compgen -W "off one all" -- "$current") ;;
        shuffle | random)
            mapfile -t COMPREPLY < <(compgen -W "off items collections toggle" -- "$current")
            ;;
        rate) mapfile -t COMPREPLY < <(compgen -W "0.5 0.75 1 1.25 1.5 1.75 2 2.5 3" -- "$current") ;;
        rating) mapfile -t COMPREPLY < <(compgen -W "0 1 2 3 4 5" -- "$current") ;;
        chapters | chapter) mapfile -t COMPREPLY < <(compgen -W "next previous" -- "$current") ;;
        sleep) mapfile -t COMPREPLY < <(compgen -W "15m 30m 1h end-of-item off" -- "$current") ;;
        loudness) mapfile -t COMPREPLY < <(compgen -W "off track album auto" -- "$current") ;;
        setup) mapfile -t COMPREPLY < <(compgen -W "user system" -- "$current") ;;
        wait) mapfile -t COMPREPLY < <(compgen -W "play pause stop track end" -- "$current") ;;
        configure)
            mapfile -t COMPREPLY < <(compgen -W "play pause stop togglePlayPause nextTrack previousTrack skipForward
                skipBackward seekForward seekBackward changePlaybackPosition changePlaybackRate changeRepeatMode changeShuffleMode
                rating like dislike bookmark" -- "$current")
            ;;
        output)
            # Names come from outside: they are compared and quoted here, never given to compgen, which would expand them.
            while read -r word; do
                [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
            done < <(nowplayingctl --timeout 1 call output.list 2>/dev/null | grep -o '"name":"[^"]*"' | cut -d '"' -f 4)
            ;;
    esac
}
complete -F _nowplayingctl nowplayingctl
