import ControlProtocol
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The log of the real daemon in a real journal, and its explanations by journalctl -x. systemd-journald runs in a mount
/// namespace with a /run of its own.
@Suite(.timeLimit(.minutes(4))) struct RealJournalTests {
    private static let journald = "/lib/systemd/systemd-journald"
    private static let isThere =
        geteuid() == 0 && access(journald, X_OK) == 0
        && TestProcess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run"]).status == 0

    /// Starts the journal and the daemon, plays what fails, and prints all entries as JSON and as journalctl -x shows them.
    private static let script = #"""
        set -eu
        folder=$1; program=$2; catalogue=$3; ctl=$4
        mount -t tmpfs none /run
        mkdir -p /run/systemd/journal /run/log "$folder/catalog" /var/lib/systemd/catalog
        mkdir -p "$folder/root/usr/lib/systemd/catalog" "$folder/root/var/lib/systemd/catalog"
        cp "$catalogue" "$folder/root/usr/lib/systemd/catalog"
        journalctl --root="$folder/root" --update-catalog
        mount --bind "$folder/root/var/lib/systemd/catalog" /var/lib/systemd/catalog
        "$5" 2> "$folder/journald.log" &
        wait_for() { tries=0; until "$@"; do tries=$((tries + 1)); [ "$tries" -lt 400 ] || exit 3; sleep 0.05; done; }
        wait_for test -S /run/systemd/journal/socket -a -S /run/systemd/journal/stdout
        systemd-cat -t fallback bash -c '
            export JOURNAL_STREAM=$(stat --dereference --format=%d:%i /proc/self/fd/2)
            exec "$@"' bash "$program" --socket "$folder/control.sock" --state-directory "$folder/state" \
            --output null --config /dev/null &
        call() { "$ctl" --socket "$folder/control.sock" --timeout 10 "$@" > "$folder/out" 2>&1; }
        wait_for call status
        call add "$folder/gone.wav" "$folder/next.wav" || cat "$folder/out" >&2
        rm "$folder/gone.wav"
        call play || true
        entries() { journalctl -D /run/log/journal --no-pager _COMM=nowplayingd "$@"; }
        has_fault() { journalctl --sync; entries -o cat | grep -q 'cannot play'; }
        wait_for has_fault
        call quit || true
        wait %2 || true
        journalctl --sync
        entries -o json --all
        echo =====
        entries --catalog --output short
        kill %1
        """#

    @Test(
        "entries have their fields, and journalctl explains the fault",
        .enabled(if: isThere, "needs root, a mount namespace and systemd-journald"))
    func fields() throws {
        let folder = TemporaryFolder()
        _ = folder.silence("gone.wav")
        _ = folder.silence("next.wav")
        let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let words = [
            "unshare", "--mount", "--kill-child", "bash", "-c", Self.script, "bash", folder.path,
            BuiltProgram.path("nowplayingd"), "/\(here)/etc/systemd/nowplayingd.catalog",
            BuiltProgram.path("nowplayingctl"), Self.journald,
        ]
        let (status, text) = TestProcess.run(words, environment: currentEnvironment())
        try #require(status == 0, "\(text)")
        let parts = text.split(separator: "=====\n", maxSplits: 1)
        let entries = parts[0].split(separator: "\n").compactMap { try? JSONReader.read(Array($0.utf8)) }
        let fault = try #require(entries.first { $0["MESSAGE_ID"] == "1c6e4084654b48ca834ad4cdc49c0ad9" }, "\(text)")
        #expect(fault["NOWPLAYING_SESSION"] == "main" && fault["NOWPLAYING_CAUSE"] == "error")
        #expect(fault["NOWPLAYING_ITEM"] == .string("file://\(folder.path)/gone.wav"))
        #expect(fault["PRIORITY"] == "4" && fault["SYSLOG_IDENTIFIER"] == "nowplayingd")
        #expect(fault["_TRANSPORT"] == "journal" && fault["_COMM"] == "nowplayingd")
        #expect(fault["MESSAGE"]?.stringValue?.hasPrefix("cannot play file://") == true)
        let ready = try #require(entries.first { $0["MESSAGE"] == "ready" }, "\(text)")
        #expect(ready["PRIORITY"] == "6" && ready["MESSAGE_ID"] == nil && ready["NOWPLAYING_ITEM"] == nil)
        let shown = parts.count > 1 ? String(parts[1]) : ""
        #expect(shown.contains("Subject: An item cannot be played"), "\(shown)")
        #expect(shown.contains("The session main could not play this item"), "\(shown)")
        #expect(shown.contains("░     file://\(folder.path)/gone.wav"), "\(shown)")
    }

    @Test("no password of an address reaches the log, with a journal or without") func secrets() async throws {
        let folder = TemporaryFolder()
        let log = folder.path("log")
        let words = [
            "sh", "-c", "exec \"$@\" 2> '\(log)'", "sh", BuiltProgram.path("nowplayingd"), "--socket",
            folder.path + "/control.sock", "--state-directory", folder.path + "/state", "--output", "null", "--config",
            "/dev/null", "--log-level", "debug",
        ]
        var environment = currentEnvironment()
        // It does not name standard error, which is a file: the log stays lines, with their priorities.
        environment["JOURNAL_STREAM"] = "1:1"
        let process = await LoopThread.run { TestProcess(words, environment: environment) }
        defer { process.end() }
        let path = folder.path + "/control.sock"
        try #require(becomes { (try? RawClient(path).call("hello")) != nil })
        let client = try RawClient(path)
        _ = try client.call(
            "queue.add", ["items": ["http://user:hidden-word@127.0.0.1:1/a.mp3?token=b"], "play": true])
        func text() -> String { String(decoding: folder.read("log"), as: UTF8.self) }
        #expect(becomes { text().contains("127.0.0.1:1") }, "\(text())")
        #expect(!text().contains("hidden-word") && !text().contains("user:"), "\(text())")
        #expect(text().split(separator: "\n").allSatisfy { $0.hasPrefix("<") }, "\(text())")
        #expect(!text().contains("NOWPLAYING_") && !text().contains("MESSAGE_ID"), "\(text())")
    }
}
