import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import WebAccess

/// `nowplayingctl pair` and `devices` against the socket of the bridge.
@Suite(.serialized, .timeLimit(.minutes(8))) struct PairingVerbTests {
    private let folder = TemporaryFolder()

    init() { LoopThread.start() }

    private var environment: [String: String] {
        ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", "XDG_RUNTIME_DIR": folder.path]
    }

    /// The socket of a judge, below the folder of this test.
    @PlayerLoop private func socket(_ house: JudgeHouse, _ address: String = "0.0.0.0") throws -> PairingSocket {
        var settings = WebSettings()
        settings.address = PublicAddress("box.lan:8088")
        let reach = WebReach([WebReach.Listener(address: address, port: 8088)], proxies: [], settings)
        return try PairingSocket(
            EventLoop.current, house.judge, folder: folder.path("nowplaying-web"), reach: { reach },
            status: { JSONObject([.init("page", true)]) })
    }

    private func tool(_ words: [String]) -> TestProcess {
        TestProcess([BuiltProgram.path("nowplayingctl")] + words, environment: environment, output: true)
    }

    /// Runs the program to its end: its status, and its output with its complaints.
    private func run(_ words: String) -> (status: Int32, text: String) {
        let command = "\(BuiltProgram.path("nowplayingctl")) \(words) 2>&1"
        let process = TestProcess(["/bin/sh", "-c", command], environment: environment, output: true)
        let text = process.readAll()
        return (process.wait(), text)
    }

    @Test("a device uses the code, is listed, and is revoked") func pairing() async throws {
        let (house, socket) = try await LoopThread.run {
            let house = try JudgeHouse()
            return (house, try self.socket(house))
        }
        var status = stat()
        #expect(stat(folder.path("nowplaying-web/web.sock"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(run("devices").text.contains("No devices"))
        let waiting = tool(["pair", "--role", "read", "--json"])
        let begun = try JSONReader.read(try #require(waiting.line { $0.hasPrefix("{") }))
        let code = try #require(begun["code"]?.stringValue)
        #expect(begun["url"]?.stringValue == "http://box.lan:8088/#code=\(code)")
        #expect(begun["role"] == "read" && begun["seconds"]?.doubleValue == 300)
        let id = await LoopThread.run {
            guard case .paired(_, let device) = house.pairNow(code, name: "Wall\u{1B}[31m “1”") else { return "" }
            return device.id
        }
        let end = try JSONReader.read(try #require(waiting.line { $0.hasPrefix("{") }))
        #expect(end["outcome"] == "paired" && end["device"]?["id"]?.stringValue == id)
        #expect(end["device"]?["digest"] == nil)
        #expect(waiting.wait() == 0)
        let list = run("devices").text
        #expect(list.contains(id) && list.contains("read") && !list.contains("\u{1B}"))
        #expect(run("completion devices").text == id + "\n")
        #expect(run("devices revoke nobody").status == 3)
        #expect(run("devices revoke \(id)").text.hasPrefix("Revoked “"))
        #expect(await LoopThread.run { house.revoked } == [id])
        #expect(run("devices revoke \(id)").status == 3)
        await LoopThread.run {
            socket.end()
            house.remove()
        }
        #expect(run("pair").status == 8)
    }

    @Test("ends of a code") func ends() async throws {
        let (house, socket) = try await LoopThread.run {
            let house = try JudgeHouse()
            return (house, try self.socket(house))
        }
        let expired = run("pair --seconds 1")
        #expect(expired.status == 9 && expired.text.contains("no device used the code in time"))
        let first = tool(["pair", "--json"])
        _ = first.line { $0.hasPrefix("{") }
        let second = tool(["pair", "--json"])
        _ = second.line { $0.hasPrefix("{") }
        #expect(first.wait() == 1)
        await LoopThread.run {
            for number in 0..<PairingDesk.maximumWrong {
                _ = house.pairNow("x", name: "", address: "192.0.2.\(number)")
            }
        }
        #expect(second.readAll().contains(#""outcome":"void""#))
        #expect(second.wait() == 1)
        #expect(run("pair --seconds 301").status == 2)
        #expect(run("pair --role admin").status == 2)
        await LoopThread.run {
            socket.end()
            house.remove()
        }
    }

    @Test("no code while only this machine is reached") func loopback() async throws {
        let (house, socket) = try await LoopThread.run {
            let house = try JudgeHouse()
            return (house, try self.socket(house, "127.0.0.1"))
        }
        let refused = run("pair")
        #expect(refused.status == 1 && refused.text.contains("bind = *:8088"))
        await LoopThread.run {
            socket.end()
            house.remove()
        }
    }

    @Test("a camera reads the code in the terminal") func camera() async throws {
        let (house, socket) = try await LoopThread.run {
            let house = try JudgeHouse()
            return (house, try self.socket(house))
        }
        let command = "\(BuiltProgram.path("nowplayingctl")) pair --no-wait"
        let terminal = TestProcess(
            ["/usr/bin/script", "-qec", command, "/dev/null"], environment: environment, output: true)
        let text = terminal.readAll()
        let code = text.split(separator: "Code: ").last.map { $0.filter(\.isNumber) } ?? ""
        #expect(!code.isEmpty)
        let picture = folder.path("code.pbm")
        draw(text, picture)
        let read = TestProcess(["/usr/bin/zbarimg", "-q", "--raw", picture], output: true)
        let url = read.readAll()
        #expect(url.hasPrefix("http://box.lan:8088/#code="))
        #expect(text.filter(\.isNumber).contains(url.filter(\.isNumber).dropFirst(4)))
        await LoopThread.run {
            socket.end()
            house.remove()
        }
    }

    /// Writes the half blocks of a terminal as a picture (PBM), four points for each module.
    private func draw(_ text: String, _ path: String) {
        var rows: [[Bool]] = []
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("\u{1B}[40;97m") {
            let blocks = line.filter { "█▀▄ ".contains($0) }
            rows.append(blocks.map { $0 == "▄" || $0 == " " })
            rows.append(blocks.map { $0 == "▀" || $0 == " " })
        }
        let points = rows.flatMap { row in
            [String](repeating: row.map { $0 ? "1 1 1 1" : "0 0 0 0" }.joined(separator: " "), count: 4)
        }
        let header = "P1\n\(4 * (rows.first?.count ?? 0)) \(points.count)\n"
        guard let file = fopen(path, "w") else { return }
        fputs(header + points.joined(separator: "\n") + "\n", file)
        fclose(file)
    }
}

extension JudgeHouse {
    /// Tries a code on the clock of the loop.
    func pairNow(_ code: String, name: String, address: String = "192.0.2.7") -> PairingAnswer {
        judge.pair(code, name: name, request(address: address, as: .pairing), at: EventLoop.now, wall: Self.start)
    }
}
