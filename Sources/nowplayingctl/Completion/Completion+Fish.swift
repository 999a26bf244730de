/// fish.
extension Completion {
    /// The whole file.
    static func fish() -> String {
        let verbs = Verb.completed
        var text = """
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
                        case \(valued.joined(separator: " "))
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

            # True if the second argument of one of these verbs follows, and the first is this one.
            function __nowplayingctl_after
                set --local words (__nowplayingctl_words)
                test (count $words) = 2; and test $words[2] = $argv[1]; and contains -- $words[1] $argv[2..]
            end

            # Names of one kind that begin with what was typed.
            function __nowplayingctl_names
                set --local typed (string unescape -- (commandline --current-token --cut-at-cursor))
                nowplayingctl --timeout 1 completion $argv[1] -- "$typed" 2> /dev/null
            end

            complete --command nowplayingctl --no-files

            """
        for option in Verb.common { text += fishOption(option, nil) }
        for verb in verbs {
            text += fishLine("--condition '__nowplayingctl_at 0' --arguments \(verb.name)", verb.summary)
        }
        var merged: [(option: Option, verbs: [Verb])] = []
        for verb in verbs {
            for option in verb.options {
                let index = merged.firstIndex { $0.option.name == option.name && $0.option.help == option.help }
                if let index { merged[index].verbs.append(verb) } else { merged.append((option, [verb])) }
            }
        }
        for (option, verbs) in merged {
            text += fishOption(option, "__nowplayingctl_verb " + verbs.flatMap(\.names).joined(separator: " "))
        }
        for verb in verbs {
            let grammar = verb.grammar
            let names = verb.names.joined(separator: " ")
            for (position, offers) in grammar.arguments.enumerated() {
                let isLast = position == grammar.arguments.count - 1
                let condition =
                    isLast && grammar.repeats
                    ? "__nowplayingctl_verb \(names)" : "__nowplayingctl_at \(position + 1) \(names)"
                for offer in offers { text += fishLine("--condition '\(condition)'" + argument(offer), nil) }
            }
            for second in grammar.seconds {
                let condition = "__nowplayingctl_after \(second.first) \(names)"
                for offer in second.offers { text += fishLine("--condition '\(condition)'" + argument(offer), nil) }
            }
        }
        return text
    }

    private static func fishOption(_ option: Option, _ condition: String?) -> String {
        var line = condition.map { "--condition '\($0)' " } ?? ""
        if let short = option.short { line += "--short-option \(short.dropFirst()) " }
        line += "--long-option \(option.name.dropFirst(2))"
        if option.value != nil {
            line += " --require-parameter" + (option.offer == .files ? "" : " --no-files")
            line += option.offer.map(argument) ?? ""
        }
        return fishLine(line, option.help)
    }

    private static func argument(_ offer: Offer) -> String {
        switch offer {
        case .files: " --force-files"
        case .words(let words): " --arguments '\(words.joined(separator: " "))'"
        case .names(let kind): " --arguments '(__nowplayingctl_names \(kind))'"
        }
    }

    private static func fishLine(_ line: String, _ help: String?) -> String {
        let quoted = help.map { help in
            help.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        }
        return "complete --command nowplayingctl \(line)" + (quoted.map { " --description '\($0)'" } ?? "") + "\n"
    }
}
