import Foundation
import Testing

/// The Debian package from the programs of this build: its contents, and its installation, upgrade and removal by dpkg. The
/// tests do not check its dependencies, and do not start its units.
@Suite(.serialized) struct PackageTests {
    /// A folder that dpkg takes for a whole system.
    private func system(_ scratch: Scratch, _ name: String = "root") throws -> String {
        for file in ["var/lib/dpkg/status", "var/lib/dpkg/available", "etc/group", "etc/passwd"] {
            try scratch.write(name + "/" + file, "")
        }
        for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
            try scratch.write(name + "/" + folder + "/.keep", "")
        }
        return scratch.path + "/" + name
    }

    private func dpkg(_ words: [String], _ root: String, in scratch: Scratch) throws -> ScriptRun {
        // Its maintainer scripts would need a whole system to run in.
        try ScriptRun(
            [
                "dpkg", "--root=" + root, "--force-not-root,depends,script-chrootless,unsafe-io", "--no-triggers",
                "--log=/dev/null",
            ] + words, environment: ["PATH": scratch.path + "/bin:/usr/sbin:/usr/bin:/sbin:/bin"], in: scratch)
    }

    @Test func isMadeInstalledUpgradedAndPurged() throws {
        let scratch = try Scratch()
        // Without debug information, which has a hundred megabytes.
        let programs = try ScriptRun.programs()
        let slim = scratch.path + "/programs"
        let stripped = try ScriptRun(
            [
                "bash", "-c",
                """
                mkdir "$2" && for name in nowplayingd nowplayingctl nowplaying-{library,hooks,mpd,mpris,mqtt,snapcast,web,tags,decode}; do
                    [ ! -e "$1/$name" ] || strip -o "$2/$name" "$1/$name" || exit 1; done
                """, "bash", programs, slim,
            ], in: scratch)
        try #require(stripped.status == 0, "\(stripped.errors)")
        let built = try ScriptRun([ScriptRun.root + "/Scripts/deb", slim, scratch.path, "gzip -z1"], in: scratch)
        try #require(built.status == 0, "\(built.text)\(built.errors)")
        let package = built.text.trimmingCharacters(in: .whitespacesAndNewlines)

        let lintian = try ScriptRun(
            [
                "lintian", "--fail-on", "error", "--suppress-tags", "custom-library-search-path", "--allow-root",
                package,
            ],
            in: scratch)
        #expect(lintian.status == 0, "\(lintian.text)\(lintian.errors)")

        let conffiles = try ScriptRun(["dpkg-deb", "--info", package, "conffiles"], in: scratch)
        #expect(conffiles.text == "/etc/nowplayingd.conf\n/etc/ufw/applications.d/nowplayingd\n")
        let control = try ScriptRun(["dpkg-deb", "--field", package, "Depends"], in: scratch)
        for name in ["libpulse0", "libsystemd0", "pulseaudio | pipewire-pulse", "wireplumber | pulseaudio"] {
            #expect(control.text.contains(name))
        }
        let list = try ScriptRun(["dpkg-deb", "--contents", package], in: scratch).text
        #expect(list.contains("-rw-r----- root/root") && list.contains("./usr/lib/systemd/system/nowplayingd.service"))
        for name in [
            "usr/bin/nowplayingd\n", "usr/lib/sysusers.d/nowplayingd.conf\n", "man5/nowplayingd.conf.5.gz\n",
            "man8/nowplaying-decode.8.gz\n", "man7/nowplaying-library-protocol.7.gz\n", "bin/nowplaying-library\n",
            "man8/nowplaying-tags.8.gz\n", "libexec/nowplayingd/nowplaying-tags\n",
            "doc/nowplayingd/README.md\n", "doc/nowplayingd/docs/guide.md\n", "doc/nowplayingd/docs/top.png\n",
            "doc/nowplayingd/docs/page.jpg\n", "share/nowplayingd/openrpc.json\n",
        ] {
            #expect(list.contains(name), "\(name)")
        }

        // Calls of the maintainer scripts are recorded, not carried out.
        for tool in ["systemd-sysusers", "deb-systemd-helper", "deb-systemd-invoke", "systemctl", "chown"] {
            try scratch.write(
                "bin/" + tool, "#!/bin/sh\necho \"${0##*/} $*\" >> '\(scratch.path)/calls'\n", executable: true)
        }
        let root = try system(scratch)
        let first = try dpkg(["--install", package], root, in: scratch)
        try #require(first.status == 0, "\(first.text)\(first.errors)")
        let version = try ScriptRun([root + "/usr/bin/nowplayingd", "--version"], in: scratch)
        #expect(version.text.hasPrefix("nowplayingd "))
        let calls = try String(contentsOfFile: scratch.path + "/calls", encoding: .utf8)
        #expect(calls.contains("systemd-sysusers --root=\(root) nowplayingd.conf\n"))
        #expect(calls.contains("deb-systemd-helper enable nowplayingd.service\n"))
        // Beside a desktop, the first installation neither enables nor starts it.
        let desktop = try system(scratch, "desktop")
        try scratch.write("desktop/etc/systemd/system/display-manager.service", "")
        try scratch.write("calls", "")
        let quiet = try dpkg(["--install", package], desktop, in: scratch)
        #expect(quiet.status == 0 && quiet.text.contains("nowplayingctl setup"), "\(quiet.text)\(quiet.errors)")
        let few = try String(contentsOfFile: scratch.path + "/calls", encoding: .utf8)
        #expect(few.contains("deb-systemd-helper update-state nowplayingd.service\n"), "\(few)")
        #expect(!few.contains("enable nowplayingd") && !few.contains(" start "), "\(few)")

        // The owner's words survive an upgrade and a removal, and go with a purge.
        let settings = root + "/etc/nowplayingd.conf"
        try "[daemon]\nlog-level = debug\n".write(toFile: settings, atomically: true, encoding: .utf8)
        #expect(try dpkg(["--install", package], root, in: scratch).status == 0)
        #expect(try dpkg(["--remove", "nowplayingd"], root, in: scratch).status == 0)
        #expect(FileManager.default.fileExists(atPath: settings))
        #expect(!FileManager.default.fileExists(atPath: root + "/usr/bin/nowplayingd"))
        let purged = try dpkg(["--purge", "nowplayingd"], root, in: scratch)
        #expect(purged.status == 0, "\(purged.text)\(purged.errors)")
        let left = try ScriptRun(["find", root, "-name", "*nowplaying*"], in: scratch)
        #expect(left.text.isEmpty, "left behind: \(left.text)")
    }
}
