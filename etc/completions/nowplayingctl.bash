# bash completion for nowplayingctl; made by: nowplayingctl completion bash

_nowplayingctl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb="" place=0 word index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --session | --socket | --timeout | --position | -f | --format | --preamp | --fade | --at | --size | --kind | --aspect | --output | --intervals | --rates | --reason | --policy | --duck-to | --volume | --priority | --ramp | --commands | --run) ((index++)) ;;
            -*) ;;
            *) if ((place++ == 0)); then verb=${COMP_WORDS[index]}; fi ;;
        esac
    done
    COMPREPLY=()
    __nowplayingctl_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
    __nowplayingctl_files() {
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    }
    # Names come from outside: they are compared and quoted here, never given to compgen, which would expand them.
    __nowplayingctl_names() {
        while read -r word; do
            [[ $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
        done < <(nowplayingctl --timeout 1 completion "$1" 2> /dev/null)
    }
    case $previous in
        --kind) __nowplayingctl_words "image preview video"; return ;;
        --aspect) __nowplayingctl_words "1:1 3:4"; return ;;
        --output | --run | --socket) __nowplayingctl_files; return ;;
        --policy) __nowplayingctl_words "duck pause pause-spoken mix"; return ;;
        --session) __nowplayingctl_names sessions; return ;;
        --timeout | --position | -f | --format | --preamp | --fade | --at | --size | --intervals | --rates | --reason | --duck-to | --volume | --priority | --ramp | --commands) return ;;
    esac
    local options="--session --socket --json --timeout --help --version"
    case $verb in
        play) options+=" --position --watch --wait" ;;
        toggle | play-pause) options+=" --wait" ;;
        skip) options+=" --back" ;;
        volume) options+=" --format" ;;
        mute) options+=" --toggle" ;;
        loudness) options+=" --preamp" ;;
        scan) options+=" --back" ;;
        like) options+=" --undo" ;;
        dislike) options+=" --undo" ;;
        bookmark) options+=" --undo" ;;
        sleep) options+=" --fade" ;;
        add) options+=" --next --at --play" ;;
        queue | playlist | list) options+=" --format" ;;
        artwork) options+=" --size --inside --kind --aspect --output" ;;
        configure) options+=" --intervals --rates --enable --disable --reason" ;;
        announce) options+=" --policy --duck-to --volume --priority" ;;
        session) options+=" --policy --duck-to --ramp --unpublished --commands --run" ;;
        status) options+=" --format --follow --tick" ;;
        follow) options+=" --format --tick" ;;
        watch) options+=" --format" ;;
        wait) options+=" --next --format" ;;
        setup) options+=" --check --yes" ;;
        current) options+=" --format" ;;
        metadata) options+=" --format --follow --tick" ;;
        position) options+=" --format" ;;
        open) options+=" --wait" ;;
    esac
    if [[ $current == -* ]]; then
        __nowplayingctl_words "$options"
        return
    fi
    case $verb/$place in
        /0) __nowplayingctl_words "play pause stop toggle next previous skip seek volume mute rate loudness unmute chapters scan like dislike rating bookmark sleep repeat shuffle add queue remove move clear artwork outputs output formats commands configure announce session status follow watch wait hooks top reload setup doctor completion call quit current metadata position open insert crop help" ;;
        play/*) __nowplayingctl_files ;;
        rate/1) __nowplayingctl_words "0.5 0.75 1 1.25 1.5 1.75 2 2.5 3" ;;
        loudness/1) __nowplayingctl_words "off track album auto" ;;
        chapters/1 | chapter/1) __nowplayingctl_words "next previous" ;;
        rating/1) __nowplayingctl_words "0 1 2 3 4 5" ;;
        sleep/1) __nowplayingctl_words "end-of-item off" ;;
        repeat/1 | loop/1) __nowplayingctl_words "off one all" ;;
        shuffle/1 | random/1) __nowplayingctl_words "off items collections toggle" ;;
        add/*) __nowplayingctl_files ;;
        output/1) __nowplayingctl_names outputs ;;
        configure/1) __nowplayingctl_words "play pause stop togglePlayPause nextTrack previousTrack skipForward skipBackward seekForward seekBackward changePlaybackPosition changePlaybackRate changeRepeatMode changeShuffleMode rating like dislike bookmark" ;;
        announce/1) __nowplayingctl_files ;;
        session/1) __nowplayingctl_words "list create activate close publish" ;;
        session/2) __nowplayingctl_names sessions ;;
        wait/1) __nowplayingctl_words "play pause stop track end" ;;
        hooks/1) __nowplayingctl_words "test" ;;
        hooks/2) __nowplayingctl_names hooks ;;
        setup/1) __nowplayingctl_words "user system" ;;
        doctor/1) __nowplayingctl_files ;;
        completion/1) __nowplayingctl_words "bash zsh fish outputs sessions hooks" ;;
        call/1) __nowplayingctl_words "nowPlaying.get nowPlaying.subscribe nowPlaying.unsubscribe play pause stop togglePlayPause nextTrack previousTrack skipForward skipBackward seekForward seekBackward changePlaybackPosition changeRepeatMode changeShuffleMode changePlaybackRate rating like dislike bookmark commands.list commands.configure queue.list queue.get queue.add queue.remove queue.move queue.clear queue.shuffle item.update volume.set loudness.set sleep.set announce output.list output.select formats.list artwork.get hello diagnostics.get rpc.discover daemon.reload daemon.quit session.list session.create session.activate session.close nowPlaying.publish" ;;
        open/*) __nowplayingctl_files ;;
        insert/*) __nowplayingctl_files ;;
        help/1) __nowplayingctl_words "play pause stop toggle next previous skip seek volume mute rate loudness unmute chapters scan like dislike rating bookmark sleep repeat shuffle add queue remove move clear artwork outputs output formats commands configure announce session status follow watch wait hooks top reload setup doctor completion call quit current metadata position open insert crop" ;;
    esac
}
complete -F _nowplayingctl nowplayingctl
