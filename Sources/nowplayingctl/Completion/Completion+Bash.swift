/// bash.
extension Completion {
    /// The whole file.
    static func bash() -> String {
        let verbs = Verb.completed
        var text = """
            # bash completion for nowplayingctl; made by: nowplayingctl completion bash

            _nowplayingctl() {
                # bash cuts words at : and =, too. Here a word ends at a space. head: its part that bash leaves as it is.
                local words=() head="" piece="" line=${COMP_LINE:0:COMP_POINT} index
                for ((index = 0; index <= COMP_CWORD; index++)); do
                    if ((index == 0)) || [[ $line == [[:space:]]* ]]; then
                        line=${line#"${line%%[![:space:]]*}"} head=""
                        words+=("")
                    else
                        head=${words[-1]}
                    fi
                    piece=${COMP_WORDS[index]}
                    ((index < COMP_CWORD)) || piece=$line
                    line=${line#"$piece"} words[-1]+=$piece
                done
                [[ -n $piece && $piece != *[!:=]* && $COMP_WORDBREAKS == *"${piece: -1}"* ]] && head=${words[-1]}
                head=${head%@}
                local current=${words[-1]} previous=${words[-2]} verb="" first="" argument=0 word
                unset "words[-1]"
                [[ $current == --*=* ]] && previous=${current%%=*} current=${current#*=} head=${head#*=}
                for ((index = 1; index < ${#words[@]}; index++)); do
                    case ${words[index]} in
                        \(valued.joined(separator: " | "))) ((index++)) ;;
                        -*) ;;
                        *)
                            case $((argument++)) in
                                0) verb=${words[index]} ;;
                                1) first=${words[index]} ;;
                            esac
                            ;;
                    esac
                done
                COMPREPLY=()
                __nowplayingctl_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
                __nowplayingctl_files() {
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "$current")
                    COMPREPLY=("${COMPREPLY[@]#"$head"}")
                }
                # Names come from outside: they are compared and quoted here, never given to compgen, which would expand them.
                __nowplayingctl_names() {
                    local quote="" plain=$current skipped=${head//\\\\/}
                    [[ $current == [\\'\\"]* ]] && quote=${current:0:1} plain=${current:1}
                    [[ $quote == "'" ]] || plain=${plain//\\\\/}
                    while IFS= read -r word; do
                        [[ ${word,,} == "${plain,,}"* ]] || continue
                        [[ $word == */ ]] && compopt -o nospace
                        # Within quotes only what needs no other quotes there.
                        case $quote in
                            \\') [[ $word == *\\'* ]] && continue ;;
                            \\") [[ $word == *[\\"\\$\\`\\\\!]* ]] && continue ;;
                            *) word=${word:${#skipped}} word=${word:+$(printf %q "$word")} ;;
                        esac
                        COMPREPLY+=("$word")
                    done < <(nowplayingctl --timeout 1 completion "$1" -- "$plain" 2> /dev/null)
                }
                case $verb/$previous in

            """
        for (verbs, name, offer) in ownOffers { text += bashCase(verbs.map { "\($0)/\(name)" }, offer) }
        text += "    esac\n    case $previous in\n"
        for (names, offer) in valueOffers { text += bashCase(names, offer) }
        let offered = Set(valueOffers.flatMap(\.names))
        let others = valued.filter { !offered.contains($0) }
        text += "        \(others.joined(separator: " | "))) return ;;\n    esac\n"
        text += "    local options=\"\(options(Verb.common))\"\n    case $verb in\n"
        for verb in verbs where !verb.options.isEmpty {
            text += "        \(verb.names.joined(separator: " | "))) options+=\" \(options(verb.options))\" ;;\n"
        }
        text += """
                esac
                if [[ $current == -* ]]; then
                    __nowplayingctl_words "$options"
                    return
                fi
                case $verb/$argument in
                    /0) __nowplayingctl_words "\(verbs.map(\.name).joined(separator: " "))" ;;

            """
        for verb in verbs {
            let grammar = verb.grammar
            for (position, offers) in grammar.arguments.enumerated() where !offers.isEmpty {
                let isLast = position == grammar.arguments.count - 1
                let number = isLast && grammar.repeats ? "*" : String(position + 1)
                text += bashCase(verb.names.map { "\($0)/\(number)" }, merged(offers), ends: false)
            }
        }
        text += "    esac\n    case $verb/$argument/$first in\n"
        for verb in verbs {
            for second in verb.grammar.seconds {
                text += bashCase(verb.names.map { "\($0)/2/\(second.first)" }, merged(second.offers), ends: false)
            }
        }
        return text + "    esac\n}\ncomplete -F _nowplayingctl nowplayingctl\n"
    }

    private static func options(_ options: [Option]) -> String { options.map(\.name).joined(separator: " ") }

    /// The offer for bash, which takes one kind of offer for a word: files before words.
    private static func merged(_ offers: [Offer]) -> Offer { offers.first { $0 == .files } ?? offers[0] }

    private static func bashCase(_ patterns: [String], _ offer: Offer, ends: Bool = true) -> String {
        let command =
            switch offer {
            case .files: "__nowplayingctl_files"
            case .words(let words): "__nowplayingctl_words \"\(words.joined(separator: " "))\""
            case .names(let kind): "__nowplayingctl_names \(kind)"
            }
        return "        \(patterns.joined(separator: " | "))) \(command)\(ends ? "; return" : "") ;;\n"
    }
}
