import Foundation
import Testing

/// The profiles for ufw, as ufw reads them: the usual ports of the programs that the network can reach.
@Suite struct FirewallTests {
    /// Usual ports by the names of the programs, from the declarations that the programs use.
    private static let declarations = [
        "nowplaying-mpd": "Sources/MPDBridge/Settings/BindAddress.swift",
        "nowplaying-web": "Sources/WebAccess/Settings/WebAddress.swift",
    ]

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: ScriptRun.root + "/" + path, encoding: .utf8)
    }

    private func usualPorts() throws -> [String: String] {
        try Self.declarations.mapValues { path in
            String(try #require(try text(path).firstMatch(of: /static let usualPort: UInt16 = (\d+)/)).1)
        }
    }

    @Test func thePortsAreThoseOfThePrograms() throws {
        let scratch = try Scratch()
        try scratch.write(
            "read.py",
            """
            import builtins, sys
            builtins._ = lambda words: words
            import ufw.common
            ufw.common.programName = "ufw"
            from ufw.applications import get_ports, get_profiles, verify_profile
            for name, profile in get_profiles(sys.argv[1]).items():
                assert verify_profile(name, profile)
                print(name, *get_ports(profile))
            """)
        let run = try ScriptRun(
            ["/usr/bin/python3", "-B", "-W", "ignore", scratch.path + "/read.py", ScriptRun.root + "/etc/ufw"],
            in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        let ports = try usualPorts()
        let wanted = ports.map { "\($0.key) \($0.value)/tcp" }.sorted()
        #expect(run.text.split(separator: "\n").map(String.init).sorted() == wanted)
        // The manual has the same defaults, and so have the documents that open the ports.
        for (name, port) in ports {
            #expect(try text("etc/man/\(name).1").contains("localhost:\(port)"))
            #expect(try text("docs/security.md").contains("`sudo ufw allow \(name)`"))
        }
    }
}
