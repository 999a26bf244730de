import ControlProtocol
import DaemonConfiguration
import DaemonRuntime
import Foundation
import NowPlaying
import Testing

/// The manual and the sample configuration agree with the tables. With NOWPLAYING_WRITE_MANUAL=1 in the environment, the
/// test writes the files anew instead of comparing them.
@Suite struct ManualTests {
    private static let etc = #filePath.components(separatedBy: "/Tests/")[0] + "/etc/"

    /// Compares a file with its expected content.
    private static func check(_ name: String, _ make: (String) throws -> String) throws {
        let path = etc + name
        let present = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let wanted = try make(present)
        if ProcessInfo.processInfo.environment["NOWPLAYING_WRITE_MANUAL"] != nil {
            try wanted.write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            #expect(present == wanted, "\(name) is out of date: run the tests with NOWPLAYING_WRITE_MANUAL=1")
        }
    }

    /// The text with the lines between the marks of these regions replaced.
    private static func filled(_ text: String, _ regions: [String: String]) throws -> String {
        var result = ""
        var rest = regions
        var skips = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(text.hasSuffix("\n") ? 1 : 0)
        {
            if line == ".\\\" END" { skips = false }
            if !skips { result += line + "\n" }
            if line.hasPrefix(".\\\" BEGIN ") {
                let name = String(line.dropFirst(".\\\" BEGIN ".count))
                let region = rest.removeValue(forKey: name)
                result += try #require(region, "there is no region \(name)")
                skips = true
            }
        }
        #expect(rest.isEmpty, "these regions are missing: \(rest.keys.sorted())")
        #expect(!skips, "the last region has no end")
        return result
    }

    /// Text as roff takes it, in an argument of a macro or on a line of its own.
    private static func roff(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "\"": result += "\\(dq"
            case "“": result += "\\(lq"
            case "”": result += "\\(rq"
            case "…": result += "\\&..."
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
    }

    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

    /// A sentence a line, as roff wants it.
    private static func lines(_ text: String) -> String {
        roff(sentence(text)).replacingOccurrences(of: ". ", with: ".\n") + "\n"
    }

    @Test func daemonPage() throws {
        var synopsis = ""
        var options = ""
        for option in DaemonOptions.all {
            let value = option.value.map { " Ar \($0.replacingOccurrences(of: "|", with: " | "))" } ?? ""
            synopsis += ".Op Fl \(option.short.map { "\($0) | " } ?? "")-\(option.name)\(value)\n"
            let short = option.short.map { "\($0) , " } ?? ""
            options += ".It Fl \(short)-\(option.name)\(value)\n" + Self.lines(Self.capitalised(option.help))
        }
        try Self.check("man/nowplayingd.1") { try Self.filled($0, ["synopsis": synopsis, "options": options]) }
    }

    private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    @Test func configurationPage() throws {
        var text = ""
        for section in Setting.sections {
            text += ".Sh [\(section.name)]\n" + Self.lines(section.help) + ".Bl -tag -width Ds\n"
            for setting in Setting.all where setting.section == section.name {
                text += ".It Ic \(setting.name)\n" + Self.lines(setting.help) + Self.lines("Takes \(setting.takes)")
                if let value = setting.defaultText { text += Self.lines("The default is \(value)") }
                if setting.isReloadable { text += "Reloadable.\n" }
            }
            text += ".El\n"
        }
        try Self.check("man/nowplayingd.conf.5") { try Self.filled($0, ["settings": text]) }
    }

    @Test func sampleConfiguration() throws {
        var text = "# Sample configuration of nowplayingd. All settings have their defaults; see nowplayingd.conf(5).\n"
        for section in Setting.sections {
            text += "\n[\(section.name)]\n# \(section.help)\n"
            for setting in Setting.all where setting.section == section.name {
                text += "\n# Takes \(setting.takes).\n#\(setting.name) = \(setting.defaultText ?? setting.sample)\n"
            }
        }
        try Self.check("nowplayingd.conf") { _ in text }
        // With all of it switched on it is in order, too.
        let used = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && line.contains(" = ") ? line.dropFirst() : line
        }
        var contents = ConfigurationFile.Contents()
        try ConfigurationFile.parse(Array(used.joined(separator: "\n").utf8), named: "sample", into: &contents)
        #expect(contents.configuration.mediaRoots == ["/srv/music"])
    }

    @Test func protocolPage() throws {
        let titles: [(Method.Kind, String)] = [
            (.nowPlaying, "What plays"), (.command, "Remote commands"), (.queue, "The queue"), (.feedback, "Feedback"),
            (.output, "Sound"), (.session, "Sessions"),
            (.server, "The daemon"),
        ]
        #expect(Set(titles.map(\.0)) == Set(Catalogue.methods.map(\.kind)))
        var text = ""
        for (kind, title) in titles {
            let methods = Catalogue.methods.filter { $0.kind == kind }
            let shared = Self.sharedResult(methods)
            text += ".Ss \(title)\n"
            if let shared { text += Self.lines("A method without a result of its own answers \(shared)") }
            text += ".Bl -tag -width Ds\n" + methods.map { Self.describe($0, shared: shared) }.joined() + ".El\n"
        }
        var usual = ""
        for parameter in Catalogue.guards + [Catalogue.ifVersion] {
            usual += ".It Ar \(parameter.name)\n" + Self.lines(Self.capitalised(parameter.help))
        }
        // The state has the films that were found in `artwork`, not this field.
        let published = Catalogue.itemFields.map(\.name).filter { $0 != "animatedArtwork" }
        let fields = published.joined(separator: " , ")
        let causes = Cause.allCases.filter { $0 != .snapshot }.map(\.rawValue).joined(separator: " ")
        try Self.check("man/nowplayingd-protocol.7") {
            try Self.filled(
                $0, ["methods": text, "usual": usual, "fields": ".Ql \(fields) .\n", "causes": ".Pp\n.Dl \(causes)\n"])
        }
    }

    @Test func libraryProtocolPage() throws {
        let titles: [(Method.Kind, String)] = [(.library, "The library"), (.list, "Lists"), (.server, "The server")]
        let methods = LibraryCatalogue.table.methods
        #expect(Set(methods.map(\.kind)).isSubset(of: Set(titles.map(\.0))))
        var text = ""
        for (kind, title) in titles where methods.contains(where: { $0.kind == kind }) {
            let own = methods.filter { $0.kind == kind }
            text += ".Ss \(title)\n.Bl -tag -width Ds\n" + own.map { Self.describe($0, shared: nil) }.joined() + ".El\n"
        }
        try Self.check("man/nowplaying-library-protocol.7") { try Self.filled($0, ["methods": text]) }
    }

    /// The result that most methods of a list have, or nil if fewer than ten share one.
    private static func sharedResult(_ methods: [ControlProtocol.Method]) -> String? {
        Dictionary(grouping: methods, by: \.result).first { $0.value.count >= 10 }?.key
    }

    /// One method of the page. `shared` is the result that its section states once.
    private static func describe(_ method: ControlProtocol.Method, shared: String?) -> String {
        var text = ".It Ic \(method.name)"
        for parameter in method.parameters {
            text += parameter.isOptional ? " Oo Ar \(parameter.name) Oc" : " Ar \(parameter.name)"
        }
        text += "\n" + lines(method.help)
        text += method.result == shared ? "" : lines("Result: \(method.result)")
        text += lines("Role: \(method.role.rawValue)")
        let usual = ["session", "notAfter", "ifVersion"] + (method.name == "play" ? [] : ["itemId"])
        let fields = Set(Catalogue.itemFields.map(\.name))
        let own = method.parameters.filter {
            !usual.contains($0.name) && !(method.name == "item.update" && fields.contains($0.name))
        }
        if !own.isEmpty {
            text += ".Bl -tag -width Ds -compact\n"
            for parameter in own {
                text += ".It Ar \(parameter.name)\n" + roff(parameter.help) + ":\n" + roff(parameter.type.words) + ".\n"
            }
            text += ".El\n"
        }
        return method.example == "{}" ? text : text + ".Pp\n.Dl \(roff(method.example))\n"
    }
}
