import Testing

/// The document of the protocol that is installed.
@Suite struct OpenRPCTests {
    @Test func theProgramPrintsWhatItAnswers() throws {
        let home = try MarkdownBlock.home()
        let run = try BoxScript(home).run(
            """
            nowplayingd --openrpc > ~/printed
            nowplayingctl --json call rpc.discover > ~/answered
            cmp <(jq --sort-keys . ~/printed) <(jq --sort-keys . ~/answered)
            jq --raw-output '.components.schemas | keys | join(" ")' ~/printed
            """)
        #expect(run.status == 0, "\(run.errors)")
        for name in ["anchor", "item", "state", "event.track"] {
            #expect(run.text.split(whereSeparator: \.isWhitespace).contains(Substring(name)), "\(run.text)")
        }
    }
}
