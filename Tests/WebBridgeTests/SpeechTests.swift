import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing
import WebProtocol

@testable import WebBridge

/// Texts that a program of the configuration speaks.
@Suite(.timeLimit(.minutes(5))) struct SpeechTests {
    init() { LoopThread.start() }

    /// Runs a program with a text.
    @PlayerLoop private static func speak(_ program: [String], _ text: String) async throws -> Speech.Outcome {
        var speech: Speech?
        defer { withExtendedLifetime(speech) {} }
        return try await withCheckedThrowingContinuation { continuation in
            do throws(HTTPFault) {
                speech = try Speech(.current, program, text, helper: BuiltProgram.path("nowplaying-web")) {
                    continuation.resume(returning: $0)
                }
            } catch { continuation.resume(throwing: error) }
        }
    }

    @Test("a text is announced by the program, and only where there is one") func announcement() async throws {
        let folder = TemporaryFolder()
        let sound = folder.silence("voice.wav")
        let script = folder.write(Array("[ \"$(cat)\" = 'Grüße, 世界' ] && cat \"$1\"\n".utf8), "speak.sh")
        let house = await WebHouse.start("speech = /bin/sh \(script) \(sound)\n", in: folder)
        let text = ["Content-Type: text/plain; charset=utf-8"]
        let hello = try house.socket().call("hello")["result"]
        #expect(hello?["capabilities"]?["speech"] == true)
        let answer = try house.client().ask("POST", "/announce?wait", text, body: Array("Grüße, 世界".utf8))
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try JSONReader.read(answer.body)["result"]?["status"] == "success")
        #expect(try house.client().ask("POST", "/announce", text, body: Array("another".utf8)).status == 502)
        #expect(try house.client().ask("POST", "/announce", text, body: Array(" \n\t".utf8)).status == 400)
        #expect(try house.client().ask("POST", "/announce", text, body: [0xFF]).status == 400)
        let long = [UInt8](repeating: 0x61, count: 1001)
        #expect(try house.client().ask("POST", "/announce", text, body: long).status == 413)
        #expect(try house.client().ask("POST", "/announce", text, body: long + long + long + long).status == 413)
        // Another user of the daemon's rights may read only.
        let reader = try house.socket()
        #expect(try reader.call("hello", #"{"role":"read"}"#)["result"]?["capabilities"]?["speech"] == nil)
        folder.file("house.conf", "[web]\nbind = 127.0.0.1:0\nstate-directory = \(folder.path("web"))\n")
        house.bridge.signal(SIGHUP)
        #expect(becomes { (try? house.client().ask("POST", "/announce", text, body: [0x61]).status) == 415 })
    }

    @Test("a program reads the files of the system and of its arguments, and changes nothing") @PlayerLoop
    func confinement() async throws {
        let folder = TemporaryFolder()
        let secret = folder.write(Array("secret".utf8), "secret")
        let voice = folder.write(Array("voice".utf8), "voice")
        let script = folder.write(
            Array(
                """
                import os, signal, socket, subprocess, sys
                text, voice, secret, parent = sys.stdin.read(), sys.argv[1], sys.argv[2][1:], int(sys.argv[3])
                def attempt(name, action):
                    try:
                        action()
                        print("did", name)
                    except OSError as error:
                        print("refused", name, error.errno)
                print(repr(text), open(voice).read(), sorted(os.environ))
                print(subprocess.run(["/bin/echo", "child"], capture_output=True).stdout)
                attempt("read", lambda: open(secret))
                attempt("write", lambda: open(voice, "a"))
                attempt("make", lambda: open(voice + ".new", "w"))
                attempt("tmp", lambda: open("/tmp/nowplaying-speech-test", "w"))
                attempt("remove", lambda: os.remove(voice))
                attempt("truncate", lambda: os.truncate(voice, 0))
                attempt("mode", lambda: os.chmod(voice, 0o777))
                attempt("list", lambda: os.listdir("/home"))
                attempt("network", lambda: socket.socket())
                attempt("local", lambda: socket.socket(socket.AF_UNIX))
                attempt("pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
                attempt("signal", lambda: os.kill(parent, 0))
                attempt("group", lambda: os.setsid())
                attempt("fork and group", lambda: os.setpgid(0, 0))
                open("/dev/null", "w").write("x")

                """.utf8), "speak.py")
        let program = ["/usr/bin/python3", "-I", script, voice, "@" + secret, String(getpid())]
        let sound = try await Self.speak(program, "Hello").get()
        let lines = String(decoding: sound, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix(#"'Hello\n' voice ['HOME', 'LANG'"#) == true, "\(lines)")
        #expect(lines.dropFirst().first == #"b'child\n'"#)
        #expect(lines.count == 16)
        for line in lines.dropFirst(2) { #expect(line.hasPrefix("refused ")) }
        #expect(folder.read("voice") == Array("voice".utf8))
    }

    @Test("a program that makes too much, makes nothing, or is none") @PlayerLoop func limits() async throws {
        guard case .failure(let much) = try await Self.speak(["/bin/cat", "/dev/zero"], "a") else {
            Issue.record("no limit")
            return
        }
        #expect(much.status == .badGateway && much.message.contains("16 MiB"))
        guard case .failure(let nothing) = try await Self.speak(["/bin/true"], "a") else {
            Issue.record("sound of nothing")
            return
        }
        #expect(nothing.message.contains("made no sound"))
        await #expect(throws: HTTPFault.self) { _ = try await Self.speak(["/nothing"], "a") }
    }

    @Test("a program ends after ten seconds, with all that it has started") @PlayerLoop func time() async throws {
        let folder = TemporaryFolder()
        let script = folder.write(Array("sleep 1000 & sleep 1001 | sleep 1002\n".utf8), "speak.sh")
        let began = EventInstant.now
        guard case .failure(let late) = try await Self.speak(["/bin/sh", script], "a") else {
            Issue.record("no limit")
            return
        }
        #expect(late.message.contains("10 seconds") && (9.9..<15).contains(began.seconds))
        let found = becomes { TestProcess.run(["/usr/bin/pgrep", "-f", "^sleep 100[012]$"]).text.isEmpty }
        #expect(found)
    }
}
