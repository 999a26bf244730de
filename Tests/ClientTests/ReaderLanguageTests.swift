import ControlProtocol
import NowPlayingClient
import Testing

/// The languages of the reader, from the environment.
@Suite struct ReaderLanguageTests {
    @Test(
        arguments: [
            ([:], []), (["LANG": "C.UTF-8"], []), (["LANG": "POSIX"], []), (["LANG": "de_DE.UTF-8"], ["de-DE"]),
            (["LANG": "de_DE", "LC_ALL": "C"], []), (["LANG": "C", "LC_MESSAGES": "pt_BR@x"], ["pt-BR"]),
            (["LANG": "en_GB.UTF-8", "LANGUAGE": "de_AT:de:en"], ["de-AT", "de", "en"]),
            (["LANG": "C", "LANGUAGE": "de"], []), (["LANG": "../../x"], []),
        ] as [([String: String], [String])])
    func preferred(variables: [String: String], expected: [String]) {
        #expect(ReaderLanguages.preferred { variables[$0] } == expected)
        #expect((ReaderLanguages.parameter { variables[$0] } == nil) == expected.isEmpty)
    }
}
