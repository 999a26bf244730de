import ControlProtocol
import NowPlayingClient

/// The page: its listeners, and the address that a phone has to type.
enum WebChecks {
    /// Wrong codes and tokens that are worth a warning.
    private static let manyGuesses: Int64 = 10

    /// Findings about `nowplaying-web`; none: this user does not run it.
    static func web() -> [Finding] {
        do throws(ClientError) {
            let connection = try Connection(firstOf: SocketLocation.bridge("nowplaying-web", socket: "web.sock"))
            return report(try connection.call("bridge.status", [:], within: BridgeChecks.patience))
        } catch .noDaemon { return [] } catch {
            return [
                Finding(
                    "web", .fault, "nowplaying-web runs, but does not answer", meaning: "it hangs, or is shutting down",
                    action: "systemctl restart nowplaying-web, with --user where it is the user's")
            ]
        }
    }

    private static func report(_ status: JSONValue) -> [Finding] {
        func texts(_ name: String) -> [String] {
            (status[name]?.arrayValue ?? []).compactMap(\.stringValue).map(TerminalText.safe)
        }
        var findings: [Finding] = []
        if let problem = status["problem"]?.stringValue {
            findings.append(
                Finding(
                    "web", .warning, "it does not listen at all of its addresses: \(TerminalText.safe(problem))",
                    meaning: "browsers at these addresses do not reach the page",
                    action: "end the program that listens there, or change bind in [web], and restart nowplaying-web"))
        }
        if status["page"] == false {
            findings.append(
                Finding(
                    "web", .warning, "the files of the page are missing", meaning: "browsers see an error",
                    action: "make install, or install the package again"))
        }
        let guesses = status["wrongGuesses"]?.integerValue ?? 0
        if guesses >= manyGuesses {
            findings.append(
                Finding(
                    "web", .warning, "\(guesses) wrong codes or tokens since its start",
                    meaning: "somebody guesses, or a revoked device keeps trying",
                    action: "journalctl -u nowplaying-web shows the addresses; with --user where it is the user's"))
        }
        let places = (texts("listeners") + texts("proxies").map { "\($0) (for proxies)" }).joined(separator: ", ")
        let here = status["localAddress"]?.stringValue.map(TerminalText.safe) ?? "none"
        guard status["isBeyondLoopback"] == true else {
            return findings + [
                Finding(
                    "web", .ok, "listens at \(places); a browser on this machine opens \(here)",
                    action: "for phones: bind = *:8088 in [web], restart nowplaying-web, nowplayingctl pair")
            ]
        }
        let addresses = texts("addresses").joined(separator: " or ")
        let count = status["deviceCount"]?.integerValue ?? 0
        let name = status["announced"]?.stringValue.map { "; the network has it as “\(TerminalText.safe($0))”" } ?? ""
        return findings + [
            Finding(
                "web", .ok,
                "listens at \(places); a phone types \(addresses.isEmpty ? "the proxy's address" : addresses); "
                    + (count == 1 ? "1 device is paired" : "\(count) devices are paired") + name,
                action: count == 0 ? "nowplayingctl pair" : nil)
        ]
    }
}
