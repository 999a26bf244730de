/// zsh.
extension Completion {
    /// The whole file.
    static func zsh() -> String {
        let verbs = Verb.completed
        var text = """
            #compdef nowplayingctl
            # zsh completion for nowplayingctl; made by: nowplayingctl completion zsh

            __nowplayingctl_names() {
                local -a names end
                names=(${(f)"$(nowplayingctl --timeout 1 completion $1 -- "${(Q)PREFIX}" 2> /dev/null)"})
                # After a folder follows one that is in it.
                [[ $1 == folders ]] && end=(-S '')
                compadd "${end[@]}" -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -a names
            }

            local curcontext=$curcontext state line
            typeset -A opt_args
            local -a verbs common
            verbs=(

            """
        for verb in verbs {
            text += "    \(quoted("\(verb.name):\(verb.summary)"))\n"
        }
        text += ")\ncommon=(\n"
        for option in Verb.common { text += "    \(zshOption(option))\n" }
        text += """
            )
            _arguments -C $common '1:verb:->verb' '*::word:->word' && return
            case $state in
                verb) _describe verb verbs && return ;;
                word) ;;
                *) return 1 ;;
            esac
            case $words[1] in

            """
        for verb in verbs {
            var parts = verb.options.map(zshOption)
            let grammar = verb.grammar
            for (position, offers) in grammar.arguments.enumerated() where !offers.isEmpty {
                let isLast = position == grammar.arguments.count - 1
                let number = isLast && grammar.repeats ? "*" : String(position + 1)
                parts.append(quoted("\(number):word:\(action(offers))"))
            }
            if !grammar.seconds.isEmpty {
                let cases = grammar.seconds.map { "(\($0.first)) \(command($0.offers)) ;;" }.joined(separator: " ")
                parts.append(quoted("2:word:{case $line[1] in \(cases) esac}"))
            }
            if parts.isEmpty { continue }
            text += "    \(verb.names.joined(separator: " | ")))\n        _arguments $common"
            text += parts.map { " \\\n            \($0)" }.joined() + " ;;\n"
        }
        return text + "    *) _arguments $common ;;\nesac\n"
    }

    private static func zshOption(_ option: Option) -> String {
        let help = option.help.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        let rest = "[\(help)]" + (option.value == nil ? "" : ":value:\(option.offer.map { action([$0]) } ?? "")")
        guard let short = option.short else { return quoted((option.mayRepeat ? "*" : "") + option.name + rest) }
        return "'(\(short) \(option.name))'{\(short),\(option.name)}" + quoted(rest)
    }

    /// The same as a command, for an action in braces.
    private static func command(_ offers: [Offer]) -> String {
        switch offers[0] {
        case .files: "_files"
        case .words(let words): "compadd -- " + words.joined(separator: " ")
        case .names(let kind): "__nowplayingctl_names \(kind)"
        }
    }

    private static func action(_ offers: [Offer]) -> String {
        let actions = offers.map { offer in
            switch offer {
            case .files: "_files"
            case .words(let words):
                "(" + words.map { $0.map { $0 == ":" ? "\\:" : String($0) }.joined() }.joined(separator: " ") + ")"
            case .names(let kind): "{__nowplayingctl_names \(kind)}"
            }
        }
        // An argument that may be a word or a file completes as a file.
        return actions.first { $0 == "_files" } ?? actions[0]
    }
}
