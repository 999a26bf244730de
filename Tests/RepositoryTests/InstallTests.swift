import Foundation
import Testing

/// `make install`, without the build: the files name the places where they lie.
@Suite struct InstallTests {
    /// The names of the files below the installed folder that contain a text, beside README.md and CHANGELOG.md.
    private func files(with text: String, in folder: String, _ scratch: Scratch) throws -> [String] {
        let words = ["--recursive", "--files-with-matches", "--exclude=README.md", "--exclude=CHANGELOG.md", "--text"]
        let run = try ScriptRun(["grep"] + words + [text, folder], in: scratch)
        return run.text.split(separator: "\n").map { String($0.dropFirst(folder.count)) }.sorted()
    }

    @Test(arguments: [
        ("/usr", "/usr/share/dbus-1/system.d"), ("/usr/local", "/etc/dbus-1/system.d"),
        ("/opt/player", "/opt/player/share/dbus-1/system.d"),
    ])
    func eachPrefixIsInTheFiles(prefix: String, policies: String) throws {
        let scratch = try Scratch()
        for name in [
            "nowplayingctl", "nowplaying-library", "nowplaying-hooks", "nowplaying-mpd",
            "nowplaying-mpris", "nowplaying-mqtt", "nowplaying-snapcast", "nowplaying-web", "nowplaying-tags",
        ] {
            try scratch.write("programs/" + name, "#!/bin/sh\n", executable: true)
        }
        try scratch.write("programs/nowplayingd", "#!/bin/sh\necho answer to $*\n", executable: true)
        let root = scratch.path + "/root"
        let run = try ScriptRun(
            [
                "make", "-C", ScriptRun.root, "install-files", "PREFIX=" + prefix, "DESTDIR=" + root,
                "PROGRAMS=" + scratch.path + "/programs",
            ], in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        // D-Bus reads two folders of policies, regardless of the prefix.
        let policy = root + policies + "/org.mpris.MediaPlayer2.nowplayingd.conf"
        #expect(FileManager.default.fileExists(atPath: policy))
        let document = try String(contentsOfFile: root + prefix + "/share/nowplayingd/openrpc.json", encoding: .utf8)
        #expect(document == "answer to --openrpc\n")
        let profiles = (prefix == "/opt/player" ? prefix : "") + "/etc/ufw/applications.d/nowplayingd"
        #expect(FileManager.default.fileExists(atPath: root + profiles))
        // The hooks, the recipes and the samples of the pages are where the pages say.
        let share = prefix + "/share/nowplayingd"
        let own = try files(with: share, in: root, scratch)
        for page in ["man1/nowplaying-hooks.1", "man1/nowplaying-mqtt.1"] {
            #expect(own.contains(prefix + "/share/man/" + page), "\(own)")
        }
        for file in ["buttons.conf", "alarm"] { #expect(own.contains(share + "/recipes/" + file), "\(own)") }
        let readme = try String(contentsOfFile: root + share + "/recipes/README.md", encoding: .utf8)
        #expect(readme.contains("`\(share)/recipes`"))
        for other in ["/usr", "/usr/local", "/opt/player"] where other != prefix {
            // /usr/share is a part of no other of these names.
            #expect(try files(with: "[^r]" + other + "/share/nowplayingd", in: root, scratch).isEmpty)
        }
        #expect(try files(with: "@[a-z]*dir@", in: root, scratch).isEmpty)
        for name in ["recipes/alarm", "recipes/kids-box", "sound-pipewire", "adapters/shairport-session"] {
            #expect(FileManager.default.isExecutableFile(atPath: root + share + "/" + name), "\(name)")
        }
        #expect(!FileManager.default.isExecutableFile(atPath: root + share + "/recipes/README.md"))
    }
}
