import NowPlayingClient
import Testing

@Suite struct TemplateTests {
    private func value(_ name: String) -> TemplateValue {
        switch name {
        case "status": .text("Playing")
        case "artist": .text("An Artist")
        case "title": .text("A Title")
        case "escapeme": .text("<hi> & 'you\"")
        case "volume": .number(2)
        case "position": .number(83_204_512)
        case "mpris:length": .number(213_400_000)
        case "elapsed": .seconds(83.5)
        case "duration": .seconds(213.5)
        default: .nothing
        }
    }

    private func expand(_ format: String) throws -> String { try Template(format).expand(value) }

    @Test(arguments: [
        ("{{artist}} - {{title}}", "An Artist - A Title"), ("{{missing}}", ""), ("plain", "plain"), ("", ""),
        ("{ {{status}} }", "{ Playing }"), ("{{lc(artist)}}", "an artist"), ("{{uc(lc(title))}}", "A TITLE"),
        ("@{{ uc( \"hi\" ) }} - {{uc( lc( \"HO\"  ) ) }}@", "@HI - HO@"), ("{{uc(missing)}}", ""),
        ("{{default(missing, artist)}}", "An Artist"), ("{{default(\"\", \"ok\")}}", "ok"),
        ("{{default(title, artist)}}", "A Title"), ("{{markup_escape(escapeme)}}", "&lt;hi&gt; &amp; &#39;you&quot;"),
        ("{{duration(position)}}|{{duration(mpris:length)}}", "1:23|3:33"), ("{{duration(elapsed)}}", "1:23"),
        ("{{duration(duration - elapsed)}}", "2:10"), ("{{duration(mpris:length - position)}}", "2:10"),
        ("{{duration(missing)}}", ""), ("{{emoji(status)}}", "▶️"), ("{{emoji(volume)}}", "🔊"),
        ("{{emoji(title)}}", "A Title"), ("{{trunc(title, 3)}}", "A T…"), ("{{trunc(title, 30)}}", "A Title"),
        ("{{position}}", "83204512"), ("{{volume * 100}} %", "200 %"), ("{{volume / 0}}", ""), ("{{title + 1}}", ""),
        ("{{missing + 1}}", ""),
    ])
    func formatsExpand(format: String, text: String) throws { #expect(try expand(format) == text) }

    @Test(
        arguments: [
            ("10", 10), ("-10 + 20", 10), ("10 * 10", 100), ("10 / 4", 2.5), ("10 + 10 * 10 + 10", 120),
            ("10 + 10 * -10 + -10", -100), ("-10 * -10 * -1 + -10", -110), ("8+-+--++-4", 12), ("2 - 10 * 1 + 1", -7),
            ("2 * (2 + 2)", 8), ("-(10 + 12 * -2)", 14), ("14 - (10 * 2 + 5) * -6", 164), ("-volume * -1", 2),
            ("volume + volume * -volume * volume + -volume", -8), ("-default(5 + 5, missing)", -10),
            ("(-default(5 - 5, missing) + 2) * 8", 16),
        ] as [(String, Double)])
    func arithmeticHasTheUsualPrecedence(expression: String, result: Double) throws {
        #expect(Double(try expand("{{\(expression)}}")) == result)
    }

    @Test(arguments: [
        "{{", "{{artist", "{{artist}", "{{artist}}{{", "{{}}", "{{nope(artist)}}", "{{lc()}}", "{{lc(a, b)}}",
        "{{default(a)}}", "{{emoji(\"hi\")}}", "{{emoji(status, volume)}}", "{{\"open}}", "{{a b}}", "{{1 +}}",
        "{{(1}}",
        "{{a;b}}", "{{1.2.3}}", "{{\u{1B}}}",
    ])
    func mistakesAreExplained(format: String) {
        #expect(throws: Template.Mistake.self) { try Template(format) }
        do { _ = try Template(format) } catch {
            #expect(error.message.contains("format: "))
            #expect(TerminalText.safe(error.message) == error.message)
        }
    }

    @Test func nestingIsBounded() throws {
        let deep = String(repeating: "(", count: 100_000)
        #expect(throws: Template.Mistake.self) { try Template("{{" + deep) }
        let signs = "{{" + String(repeating: "-", count: 100_000) + "1}}"
        #expect(try expand(signs) == "1")
    }

    @Test func whatATemplateMentionsIsFound() throws {
        let template = try Template("{{title}} {{duration(default(position, 0) * -1)}}")
        #expect(template.mentions("position"))
        #expect(!template.mentions("artist"))
    }
}
