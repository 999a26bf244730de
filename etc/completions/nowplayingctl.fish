# fish completion for nowplayingctl; made by: nowplayingctl completion fish

# Words before the cursor that are not options: the verb and its arguments.
function __nowplayingctl_words
    set --local skips 0
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        if test $skips = 1
            set skips 0
            continue
        end
        switch $word
            case --session --socket --timeout --position -f --format --preamp --fade --at --size --kind --aspect --output --intervals --rates --reason --policy --duck-to --volume --priority --ramp --commands --run
                set skips 1
            case '-*'
            case '*'
                echo $word
        end
    end
end

# True if the verb is one of these.
function __nowplayingctl_verb
    set --local words (__nowplayingctl_words)
    test (count $words) -gt 0; and contains -- $words[1] $argv
end

# True if this number of words stands before the cursor and the first is one of these verbs.
function __nowplayingctl_at
    set --local words (__nowplayingctl_words)
    test (count $words) = $argv[1]; or return
    test $argv[1] = 0; or contains -- $words[1] $argv[2..]
end

complete --command nowplayingctl --no-files
complete --command nowplayingctl --long-option session --require-parameter --arguments '(nowplayingctl --timeout 1 completion sessions 2> /dev/null)' --description 'use this session instead of the active one (see session)'
complete --command nowplayingctl --long-option socket --require-parameter --force-files --description 'use this socket instead of $NOWPLAYING_SOCKET and the default paths'
complete --command nowplayingctl --long-option json --description 'print the daemon\'s answer as JSON'
complete --command nowplayingctl --long-option timeout --require-parameter --description 'give up after this time (exit status 9); default: 15 s'
complete --command nowplayingctl --short-option h --long-option help --description 'print this help'
complete --command nowplayingctl --short-option V --long-option version --description 'print the version'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments play --description 'resume, or play these files instead of the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments pause --description 'pause at once'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments stop --description 'stop, and stay at the beginning of the item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments toggle --description 'pause if playing, else resume'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments next --description 'go to the next item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments previous --description 'go to the start of the item, or to the previous one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments skip --description 'skip forward, or back with a minus sign'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments seek --description 'seek in the item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments volume --description 'show or set the volume'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments mute --description 'mute the sound; playback continues'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments rate --description 'show or set the playback rate, at the same pitch'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments loudness --description 'show or set loudness normalisation'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments unmute --description 'unmute the sound'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments chapters --description 'show the chapters of the item, or go to one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments scan --description 'hold the seek button down'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments like --description 'like the current item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments dislike --description 'dislike the current item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments rating --description 'show or set the rating, 0 to 5 stars'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments bookmark --description 'set a bookmark: the item resumes at this position'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments sleep --description 'show or set a sleep timer'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments repeat --description 'show or set the repeat mode'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments shuffle --description 'show or set the play order'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments add --description 'add files, folders, playlists or addresses at the end of the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments queue --description 'show the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments remove --description 'remove items from the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments move --description 'move an item to another index'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments clear --description 'empty the queue and stop'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments artwork --description 'print the path of the current item\'s picture'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments outputs --description 'list the outputs'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments output --description 'show the current output, or select another one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments formats --description 'list the audio formats'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments commands --description 'list the remote commands and their availability'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments configure --description 'configure a remote command'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments announce --description 'play an announcement over the playback'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments session --description 'list the sessions, or create, activate or close one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments status --description 'show the current item, position, volume and output'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments follow --description 'print a line for every change until interrupted'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments watch --description 'show titles and the moving position until the queue ends'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments wait --description 'wait for a state or an event'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments hooks --description 'list the hooks, or test one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments top --description 'show title, position, queue and output on the whole screen'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments reload --description 'reload the daemon\'s configuration'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments setup --description 'let systemd run the daemon, for the user or the system'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments doctor --description 'find faults and print the commands that help'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments completion --description 'print a completion script for a shell'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments call --description 'call a method of the protocol and print the result'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments quit --description 'end the daemon'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments current --description 'artist and title'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments metadata --description 'the item\'s metadata, by playerctl\'s keys'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments position --description 'show the position in seconds, or seek'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments open --description 'same as play FILE…'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments insert --description 'same as add --next'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments crop --description 'remove all items but the current one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments help --description 'explain'
complete --command nowplayingctl --condition '__nowplayingctl_verb play' --long-option position --require-parameter --description 'begin here'
complete --command nowplayingctl --condition '__nowplayingctl_verb play' --long-option watch --description 'show the position until the queue ends (see watch)'
complete --command nowplayingctl --condition '__nowplayingctl_verb play toggle play-pause open' --long-option wait --description 'wait for the sound, at most --timeout seconds; exit status 5 if there is none'
complete --command nowplayingctl --condition '__nowplayingctl_verb skip' --long-option back --description 'skip back by the preferred interval'
complete --command nowplayingctl --condition '__nowplayingctl_verb volume status follow watch wait current metadata position' --short-option f --long-option format --require-parameter --description 'print this text with {{…}} expanded (see below)'
complete --command nowplayingctl --condition '__nowplayingctl_verb mute' --long-option toggle --description 'unmute if muted'
complete --command nowplayingctl --condition '__nowplayingctl_verb loudness' --long-option preamp --require-parameter --description 'decibels added to the gain of tagged items'
complete --command nowplayingctl --condition '__nowplayingctl_verb scan' --long-option back --description 'backward'
complete --command nowplayingctl --condition '__nowplayingctl_verb like dislike bookmark' --long-option undo --description 'undo it'
complete --command nowplayingctl --condition '__nowplayingctl_verb sleep' --long-option fade --require-parameter --description 'seconds of fade-out before the end'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option next --description 'directly after the current item'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option at --require-parameter --description 'at this index, from 1'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option play --description 'play the first of them'
complete --command nowplayingctl --condition '__nowplayingctl_verb queue playlist list' --short-option f --long-option format --require-parameter --description 'print this for each item: {{number}} {{title}} …'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option size --require-parameter --description 'preferred size; the nearest available one is used'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option inside --description 'prefer a smaller picture to a larger one'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option kind --require-parameter --arguments 'image preview video' --description 'preview and video are for animated artwork; default: image'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option aspect --require-parameter --arguments '1:1 3:4' --description 'shape of the animated artwork'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option output --require-parameter --force-files --description 'copy the picture to this file; - is standard output'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option intervals --require-parameter --description 'preferred intervals of skip-forward and skip-backward'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option rates --require-parameter --description 'supported rates of change-playback-rate'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option enable --description 'allow the command'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option disable --description 'refuse the command'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option reason --require-parameter --description 'reason that remotes show'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option policy --require-parameter --arguments 'duck pause pause-spoken mix' --description 'effect on the playback'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option duck-to --require-parameter --description 'level of the playback in decibels, such as -30'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option volume --require-parameter --description 'volume of the announcement; default: that of the playback'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option priority --require-parameter --description '0 to 100: the highest waiting one is next'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option policy --require-parameter --arguments 'mix duck pause pause-spoken' --description 'effect on the other sessions'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option duck-to --require-parameter --description 'with the policy duck: level of the others in decibels, such as -12'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option ramp --require-parameter --description 'seconds of each fade'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option unpublished --description 'visible only to clients that name it, and never active'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option commands --require-parameter --description 'for publish: supported commands, such as play,pause,next-track'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option run --require-parameter --force-files --description 'for publish: program that runs them, within 2 seconds'
complete --command nowplayingctl --condition '__nowplayingctl_verb status metadata' --short-option F --long-option follow --description 'print a line at each change'
complete --command nowplayingctl --condition '__nowplayingctl_verb status follow metadata' --long-option tick --description 'update the position every second; in a terminal, in place'
complete --command nowplayingctl --condition '__nowplayingctl_verb wait' --long-option next --description 'ignore the current state; wait for the next such event'
complete --command nowplayingctl --condition '__nowplayingctl_verb setup' --long-option check --description 'show the unit in use, and change nothing'
complete --command nowplayingctl --condition '__nowplayingctl_verb setup' --short-option y --long-option yes --description 'run the commands without asking'
complete --command nowplayingctl --condition '__nowplayingctl_verb play' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_at 1 rate' --arguments '0.5 0.75 1 1.25 1.5 1.75 2 2.5 3'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 loudness' --arguments 'off track album auto'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 chapters chapter' --arguments 'next previous'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 rating' --arguments '0 1 2 3 4 5'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 sleep' --arguments 'end-of-item off'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 repeat loop' --arguments 'off one all'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 shuffle random' --arguments 'off items collections toggle'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_at 1 output' --arguments '(nowplayingctl --timeout 1 completion outputs 2> /dev/null)'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 configure' --arguments 'play pause stop togglePlayPause nextTrack previousTrack skipForward skipBackward seekForward seekBackward changePlaybackPosition changePlaybackRate changeRepeatMode changeShuffleMode rating like dislike bookmark'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 announce' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_at 1 session' --arguments 'list create activate close publish'
complete --command nowplayingctl --condition '__nowplayingctl_at 2 session' --arguments '(nowplayingctl --timeout 1 completion sessions 2> /dev/null)'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 wait' --arguments 'play pause stop track end'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 hooks' --arguments 'test'
complete --command nowplayingctl --condition '__nowplayingctl_at 2 hooks' --arguments '(nowplayingctl --timeout 1 completion hooks 2> /dev/null)'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 setup' --arguments 'user system'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 doctor' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_at 1 completion' --arguments 'bash zsh fish outputs sessions hooks'
complete --command nowplayingctl --condition '__nowplayingctl_at 1 call' --arguments 'nowPlaying.get nowPlaying.subscribe nowPlaying.unsubscribe play pause stop togglePlayPause nextTrack previousTrack skipForward skipBackward seekForward seekBackward changePlaybackPosition changeRepeatMode changeShuffleMode changePlaybackRate rating like dislike bookmark commands.list commands.configure queue.list queue.get queue.add queue.remove queue.move queue.clear queue.shuffle item.update volume.set loudness.set sleep.set announce output.list output.select formats.list artwork.get hello diagnostics.get rpc.discover daemon.reload daemon.quit session.list session.create session.activate session.close nowPlaying.publish'
complete --command nowplayingctl --condition '__nowplayingctl_verb open' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_verb insert' --force-files
complete --command nowplayingctl --condition '__nowplayingctl_at 1 help' --arguments 'play pause stop toggle next previous skip seek volume mute rate loudness unmute chapters scan like dislike rating bookmark sleep repeat shuffle add queue remove move clear artwork outputs output formats commands configure announce session status follow watch wait hooks top reload setup doctor completion call quit current metadata position open insert crop'
