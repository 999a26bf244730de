# fish completion for nowplayingctl; made by: nowplayingctl completion fish

# The words before the cursor that are no options: the verb, and what stands behind it.
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

# Whether the verb is one of these.
function __nowplayingctl_verb
    set --local words (__nowplayingctl_words)
    test (count $words) -gt 0; and contains -- $words[1] $argv
end

# Whether so many words stand before the cursor, the first of them one of these verbs.
function __nowplayingctl_at
    set --local words (__nowplayingctl_words)
    test (count $words) = $argv[1]; or return
    test $argv[1] = 0; or contains -- $words[1] $argv[2..]
end

complete --command nowplayingctl --no-files
complete --command nowplayingctl --long-option session --require-parameter --arguments '(nowplayingctl --timeout 1 completion sessions 2> /dev/null)' --description 'the session that is meant, instead of the active one (see session)'
complete --command nowplayingctl --long-option socket --require-parameter --force-files --description 'the daemon\'s socket, instead of $NOWPLAYING_SOCKET and the usual places'
complete --command nowplayingctl --long-option json --description 'print what the daemon answers, as JSON'
complete --command nowplayingctl --long-option timeout --require-parameter --description 'give up after this time (exit status 9); otherwise after 15 s'
complete --command nowplayingctl --short-option h --long-option help --description 'explain the verb'
complete --command nowplayingctl --short-option V --long-option version --description 'print the version'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments play --description 'go on, or play these files instead of the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments pause --description 'pause at once'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments stop --description 'stop, and stay at the beginning of the item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments toggle --description 'pause what plays, go on with what is paused'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments next --description 'the next entry of the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments previous --description 'the beginning of the item, or the entry before it'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments skip --description 'forward, or back with a minus sign'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments seek --description 'go to a place in the item'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments volume --description 'show or set the volume'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments mute --description 'switch the sound off, and keep playing'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments rate --description 'show or set how fast it plays, at the same pitch'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments loudness --description 'show or set how loudness is brought into line'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments unmute --description 'switch the sound on again'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments chapters --description 'show the chapters of the item, or go to one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments scan --description 'hold the seek button down'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments like --description 'say that this item is liked'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments dislike --description 'say that this item is disliked'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments rating --description 'show or set the rating, 0 to 5 stars'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments bookmark --description 'have this item go on from here, whenever it is played'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments sleep --description 'show or set a sleep timer'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments repeat --description 'show or set what follows the end'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments shuffle --description 'show or set the order of playing'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments add --description 'put files, folders, playlists or addresses behind the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments queue --description 'show the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments remove --description 'take entries out of the queue'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments move --description 'move an entry to another place'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments clear --description 'empty the queue and stop'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments artwork --description 'show where the picture of the present item is'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments outputs --description 'list where it can be heard'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments output --description 'play on this output'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments formats --description 'list the formats of files that play'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments commands --description 'list the remote commands and which are possible now'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments configure --description 'set what remotes offer for a command'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments announce --description 'have something heard over what plays'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments session --description 'list the sessions, or make, choose and end one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments status --description 'show what is playing, and where'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments follow --description 'print a line for every change, for ever'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments watch --description 'show titles and the moving position until the queue has ended'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments wait --description 'return when it is so'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments hooks --description 'list the programs of nowplaying-hooks, or try one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments top --description 'show title, place, queue and output on the whole screen'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments reload --description 'have the daemon read its configuration again'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments setup --description 'have systemd run the daemon, the user\'s or the system\'s'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments doctor --description 'look for what is wrong, and say what to type'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments completion --description 'print what completes command lines in a shell'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments call --description 'call a method of the protocol and print the result'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments quit --description 'end the daemon'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments current --description 'artist and title'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments metadata --description 'what is known about the item, by playerctl\'s keys'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments position --description 'the position in seconds, or seek'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments open --description 'the same as play FILE…'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments insert --description 'the same as add --next'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments crop --description 'remove all entries but the present one'
complete --command nowplayingctl --condition '__nowplayingctl_at 0' --arguments help --description 'explain'
complete --command nowplayingctl --condition '__nowplayingctl_verb play' --long-option position --require-parameter --description 'begin here'
complete --command nowplayingctl --condition '__nowplayingctl_verb play' --long-option watch --description 'show the position until the queue has ended (see watch)'
complete --command nowplayingctl --condition '__nowplayingctl_verb skip' --long-option back --description 'back by the preferred interval'
complete --command nowplayingctl --condition '__nowplayingctl_verb volume status follow watch wait current metadata position' --short-option f --long-option format --require-parameter --description 'print this text, {{…}} replaced (see below)'
complete --command nowplayingctl --condition '__nowplayingctl_verb mute' --long-option toggle --description 'switch it on if it is off'
complete --command nowplayingctl --condition '__nowplayingctl_verb loudness' --long-option preamp --require-parameter --description 'add so many decibels to the gain of tagged items'
complete --command nowplayingctl --condition '__nowplayingctl_verb scan' --long-option back --description 'backward'
complete --command nowplayingctl --condition '__nowplayingctl_verb like dislike bookmark' --long-option undo --description 'take it back'
complete --command nowplayingctl --condition '__nowplayingctl_verb sleep' --long-option fade --require-parameter --description 'grow quiet in so many seconds before'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option next --description 'directly behind what plays now'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option at --require-parameter --description 'at this place, from 1'
complete --command nowplayingctl --condition '__nowplayingctl_verb add' --long-option play --description 'and play the first of them'
complete --command nowplayingctl --condition '__nowplayingctl_verb queue playlist list' --short-option f --long-option format --require-parameter --description 'print this for each entry: {{number}} {{title}} …'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option size --require-parameter --description 'the size that is wanted; the nearest that there is comes'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option inside --description 'rather smaller than that than larger'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option kind --require-parameter --arguments 'image preview video' --description 'the last two are of what is animated; otherwise image'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option aspect --require-parameter --arguments '1:1 3:4' --description 'which of the animated ones'
complete --command nowplayingctl --condition '__nowplayingctl_verb artwork' --long-option output --require-parameter --force-files --description 'copy the picture there; - is standard output'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option intervals --require-parameter --description 'preferred intervals of skipForward and skipBackward'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option rates --require-parameter --description 'supported rates of changePlaybackRate'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option enable --description 'allow the command'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option disable --description 'refuse the command'
complete --command nowplayingctl --condition '__nowplayingctl_verb configure' --long-option reason --require-parameter --description 'why it is refused'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option policy --require-parameter --arguments 'duck pause pauseSpoken mix' --description 'what becomes of what plays'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option duck-to --require-parameter --description 'how quiet it gets, such as -30'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option volume --require-parameter --description 'how loud it is said; otherwise as loud as what plays'
complete --command nowplayingctl --condition '__nowplayingctl_verb announce' --long-option priority --require-parameter --description '0 to 100: of those that wait the highest is next'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option policy --require-parameter --arguments 'mix duck pause pauseSpoken' --description 'what the others do meanwhile'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option duck-to --require-parameter --description 'with the policy duck: how quiet the others get, such as -12'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option ramp --require-parameter --description 'in how many seconds they do, and are as before again'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option unpublished --description 'told only to those who name it, and never the active one'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option commands --require-parameter --description 'for publish: commands it takes, such as play,pause,nextTrack'
complete --command nowplayingctl --condition '__nowplayingctl_verb session' --long-option run --require-parameter --force-files --description 'for publish: what carries them out, within 2 seconds'
complete --command nowplayingctl --condition '__nowplayingctl_verb status metadata' --short-option F --long-option follow --description 'and again for every change'
complete --command nowplayingctl --condition '__nowplayingctl_verb status follow metadata' --long-option tick --description 'move on with every second, computed here; in a terminal, in its place'
complete --command nowplayingctl --condition '__nowplayingctl_verb wait' --long-option next --description 'not the present state, but the next such event'
complete --command nowplayingctl --condition '__nowplayingctl_verb setup' --long-option check --description 'say which unit is in use, and change nothing'
complete --command nowplayingctl --condition '__nowplayingctl_verb setup' --long-option yes --description 'run the commands without asking'
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
