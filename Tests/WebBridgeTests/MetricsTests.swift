import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import TestSupport
import Testing

/// Figures over HTTP: their right, their format, and the bound on questions.
@Suite(.timeLimit(.minutes(5)), .serialized) struct MetricsTests {
    private static let stranger = ["X-Forwarded-For: 192.0.2.7"]

    private static func figure(_ name: String, _ text: String) -> Double? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }
    }

    @Test("without the setting there are no figures") func off() async throws {
        let house = await WebHouse.start()
        let answer = try house.client().ask("GET", "/metrics")
        #expect(answer.status == 404 && answer.text.contains("metrics = yes"), "\(answer.text)")
        #expect(try house.client().ask("GET", "/metrics", Self.stranger).status == 401)
        house.folder.file(
            "house.conf",
            "[web]\nbind = 127.0.0.1:\(house.port)\nstate-directory = \(house.folder.path("web"))\nmetrics = yes\n")
        house.bridge.signal(SIGHUP)
        #expect(becomes { (try? house.client().ask("GET", "/metrics").status) == 200 })
    }

    @Test("callers with the role read get figures, anonymous callers never") func rights() async throws {
        let house = await WebHouse.start("metrics = yes\nanonymous = read\n")
        let answer = try house.client().ask("GET", "/metrics")
        #expect(answer.status == 200)
        #expect(try house.client().ask("GET", "/events", Self.stranger + ["Range: none"]).status == 200)
        let refused = try house.client().ask("GET", "/metrics", Self.stranger)
        #expect(refused.status == 401 && refused.headers["www-authenticate"] == "Bearer")
        #expect(!refused.text.contains("nowplaying_"))
        #expect(try house.client().ask("GET", "/metrics", ["Authorization: Bearer wrong"]).status == 401)
        #expect(try house.client().ask("GET", "/metrics", ["Authorization: Basic YTpi"]).status == 401)
        #expect(try house.client().ask("GET", "/metrics", ["Origin: https://other.example"]).status == 403)
        #expect(try house.client().ask("GET", "/metrics", ["Host: other.example"]).status == 421)
        #expect(try house.client().post("{}", to: "/metrics").status == 405)
        let head = try house.client().ask("HEAD", "/metrics")
        #expect(head.status == 200 && head.headers["content-type"]?.hasPrefix("application/openmetrics-text") == true)
    }

    @Test("both formats have the figures of the daemon; promtool accepts them") func formats() async throws {
        let house = await WebHouse.start("metrics = yes\n")
        let daemon = try house.daemonClient()
        let songs = (0..<2).map { JSONValue.string(house.folder.silence("secret-\($0).wav")) }
        _ = try daemon.call("queue.add", ["items": .array(songs), "play": true])
        var text = ""
        let plays = becomes {
            text = (try? house.client().ask("GET", "/metrics").text) ?? ""
            return (Self.figure("nowplaying_plays_total", text) ?? 0) >= 1
        }
        #expect(plays && Self.figure("nowplaying_queue_items", text) == 2, "\(text)")
        #expect(text.hasSuffix("\n# EOF\n") && text.contains("nowplaying_up{program=\"daemon\"} 1\n"))
        #expect(text.contains("nowplaying_up{program=\"library\"} 0\n"))
        let open = try house.client().ask("GET", "/metrics")
        #expect(open.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(open.headers["cache-control"] == "no-store")
        let plain = try house.client().ask("GET", "/metrics", ["Accept: text/plain"])
        #expect(plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(!plain.text.contains("# EOF") && plain.text.contains("# TYPE nowplaying_plays_total counter\n"))
        for answer in [open.text, plain.text] {
            #expect(!answer.contains("secret") && !answer.contains(house.folder.path))
        }
        guard access("/usr/bin/promtool", X_OK) == 0 else {
            return print("NOT TESTED: promtool check metrics: the package prometheus is not installed")
        }
        house.folder.file("plain.txt", plain.text)
        let check = TestProcess.run(
            ["sh", "-c", "promtool check metrics < '\(house.folder.path("plain.txt"))' 2>&1"],
            environment: currentEnvironment())
        #expect(check.status == 0 && check.text.isEmpty, "\(check.text)")
    }

    @Test("scrapers that hammer get the same figures, for one question a second") func hammered() async throws {
        let house = await WebHouse.start("metrics = yes\n")
        let clients = try (0..<40).map { _ in try house.client() }
        let begin = MonotonicTime.now
        var seen: Set<Double> = []
        var count = 0
        while MonotonicTime.now.seconds(since: begin) < 3 {
            for client in clients { client.request("GET", "/metrics") }
            for client in clients {
                let answer = try client.answer()
                #expect(answer.status == 200)
                if let uptime = Self.figure("nowplaying_uptime_seconds", answer.text) { seen.insert(uptime) }
                count += 1
            }
        }
        let seconds = MonotonicTime.now.seconds(since: begin)
        #expect(count > 100 && !seen.isEmpty)
        #expect(Double(seen.count) <= seconds + 1, "\(seen.count) questions in \(seconds) s")
        // Each question has its own connection, which has ended: the bridge's is left.
        let daemon = try house.daemonClient()
        #expect(becomes { (try? daemon.call("figures.get"))?["result"]?["clients"] == 2 })
    }

    @Test("a daemon that hangs or is gone does not hold up the answer for long") func absent() async throws {
        let house = await WebHouse.start("metrics = yes\n")
        house.daemon.signal(SIGSTOP)
        let begin = MonotonicTime.now
        let answer = try house.client().ask("GET", "/metrics")
        #expect(answer.status == 200 && answer.text.contains("nowplaying_up{program=\"daemon\"} 0\n"))
        #expect(MonotonicTime.now.seconds(since: begin) < 6)
        house.daemon.signal(SIGCONT)
        #expect(becomes { (try? house.client().ask("GET", "/metrics").text.contains("daemon\"} 1\n")) == true })
        house.daemon.end()
        #expect(becomes { (try? house.client().ask("GET", "/metrics").text.contains("daemon\"} 0\n")) == true })
    }
}
