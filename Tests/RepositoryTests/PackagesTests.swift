import Testing

/// `Scripts/packages` with a fake Debian: a list has the installed packages, and a call of apt-get leaves a mark.
@Suite struct PackagesTests {
    private let folder: Scratch

    init() throws {
        folder = try Scratch()
        try tool("dpkg-query", "sed 's/^/installed /' \(folder.path)/installed; exit 1")
        try tool("apt-get", "echo \"apt-get $*\" >> \(folder.path)/calls")
        try tool("id", "cat \(folder.path)/uid")
        try tool("swift", "echo 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'")
        // Only these programs, and the programs that the script itself needs: no sudo.
        for name in ["bash", "sed", "head", "grep", "sort", "cat", "env", "install", "rm", "mktemp", "tee"] {
            try tool(name, "exec /usr/bin/\(name) \"$@\"")
        }
        // Services that would start at the next boot.
        try tool(
            "systemctl",
            """
            case "$1" in
            is-enabled) grep -qx "$2" \(folder.path)/enabled && echo enabled ;;
            *) echo "systemctl $*" >> \(folder.path)/calls ;;
            esac
            """)
        try folder.write("enabled", "")
        try folder.write("uid", "1000\n")
        try folder.write("installed", "")
        try folder.write("calls", "")
    }

    private func tool(_ name: String, _ script: String) throws {
        try folder.write("bin/" + name, "#!/bin/bash\n\(script)\n", executable: true)
    }

    private func packages(_ sets: String...) throws -> ScriptRun {
        try ScriptRun(
            ["/bin/bash", ScriptRun.root + "/Scripts/packages"] + sets,
            environment: ["PATH": folder.path + "/bin", "POLICY_RC_D": folder.path + "/policy"], in: folder)
    }

    private func calls() throws -> String { try ScriptRun(["cat", folder.path + "/calls"], in: folder).text }

    @Test func nothingMissingTouchesNoApt() throws {
        try folder.write("installed", "mandoc\npython3\n")
        let run = try packages("lint")
        #expect(run.status == 0)
        #expect(run.text.isEmpty && run.errors.isEmpty)
        #expect(try calls().isEmpty)
    }

    @Test func aNameThatAnotherPackageProvidesIsThere() throws {
        try tool(
            "dpkg-query",
            """
            case "$*" in
            *Provides*) printf '%s\\n' 'installed mandoc (= 1), other' 'config-files python3' 'installed ' ;;
            *) echo 'installed python3'; exit 1 ;;
            esac
            """)
        let run = try packages("lint")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(try calls().isEmpty)
        try tool("dpkg-query", "case \"$*\" in *Provides*) echo 'config-files mandoc, python3' ;; esac")
        #expect(try packages("lint").status == 1)
    }

    @Test func withoutRightsTheExactLineIsPrinted() throws {
        let run = try packages("lint")
        #expect(run.status == 1)
        #expect(run.errors.contains("apt-get update && apt-get install --yes --no-install-recommends mandoc python3\n"))
        #expect(try calls().isEmpty)
    }

    @Test func rootInstallsWhatIsMissingAndNothingElse() throws {
        try folder.write("uid", "0\n")
        try folder.write("installed", "pkg-config\nlibpulse-dev\nlibflac-dev\nlibsndfile1-dev\nlibsystemd-dev\n")
        let run = try packages("build")
        #expect(run.status == 0, "\(run.errors)")
        let install = try #require(try calls().split(separator: "\n").last { $0.hasPrefix("apt-get install") })
        #expect(install.contains(" libinih-dev"))
        #expect(!install.contains("libpulse-dev"))
    }

    @Test func sudoIsUsedWhereItAsksNothing() throws {
        try tool("sudo", "[ \"$1\" = -n ] && exit 0; echo \"sudo $*\" >> \(folder.path)/calls; exec \"$@\"")
        #expect(try packages("lint").status == 0)
        #expect(try calls().contains("sudo env DEBIAN_FRONTEND=noninteractive apt-get install"))
    }

    @Test func aFailedInstallationIsToldWithTheLine() throws {
        try folder.write("uid", "0\n")
        try tool("apt-get", "exit 100")
        let run = try packages("lint")
        #expect(run.status == 1)
        #expect(run.errors.contains("apt-get install --yes --no-install-recommends mandoc python3\n"))
    }

    @Test func noServiceOfANewPackageStarts() throws {
        try folder.write("uid", "0\n")
        try folder.write("enabled", "mpd.service\nmpd.socket\n")
        // As Debian's packages do it.
        try tool(
            "apt-get",
            """
            for unit in mpd nginx.service cron.service; do
                \(folder.path)/policy $unit start && echo "start $unit" >> \(folder.path)/calls
            done
            echo nginx.service >> \(folder.path)/enabled
            """)
        let run = try packages("clients")
        #expect(run.status == 0, "\(run.errors)")
        // The machine had MPD before.
        #expect(try calls() == "start mpd\nstart cron.service\nsystemctl --quiet disable nginx.service\n")
        #expect(try ScriptRun(["test", "-e", folder.path + "/policy"], in: folder).status == 1)
    }

    @Test(arguments: ["Swift version 6.1.3 (swift-6.1.3-RELEASE)", "Swift version 5.10 (x)", "nonsense"])
    func anOldToolchainIsNamed(_ version: String) throws {
        try tool("swift", "echo '\(version)'")
        let run = try packages("build")
        #expect(run.status == 1)
        #expect(run.errors.contains("needs Swift 6.2 or newer"))
        #expect(run.errors.contains("https://www.swift.org/install/linux/"))
    }

    @Test func aToolchainThatCannotStartGetsItsLibraries() throws {
        let words = "swift: error while loading shared libraries: libncurses.so: cannot open shared object file"
        try tool(
            "swift", "[ -e \(folder.path)/done ] || { echo '\(words)' >&2; exit 127; }; echo 'Swift version 6.3.1'")
        try folder.write("uid", "0\n")
        try tool("apt-get", "echo \"apt-get $*\" >> \(folder.path)/calls")
        // It does not start afterwards either.
        let failed = try packages("play")
        #expect(failed.status == 1)
        #expect(failed.errors.contains("does not start: \(words)"), "\(failed.errors)")
        #expect(try calls().contains(" libncurses-dev "))
        try tool("apt-get", "/usr/bin/touch \(folder.path)/done")
        #expect(try packages("play").status == 0)
    }

    @Test func aDebianWithANewToolchainHasItsOwn() throws {
        _ = try ScriptRun(["rm", folder.path + "/bin/swift"], in: folder)
        try folder.write("uid", "0\n")
        try tool("apt-cache", "printf 'swiftlang:\\n  Installed: (none)\\n  Candidate: 6.2.3-1+b1\\n'")
        try tool(
            "apt-get",
            """
            echo "apt-get $*" >> \(folder.path)/calls
            printf '#!/bin/bash\\necho Swift version 6.2.3' > \(folder.path)/bin/swift; /bin/chmod 755 \(folder.path)/bin/swift
            """)
        let run = try packages("build")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try calls().contains(" swiftlang"))
        _ = try ScriptRun(["rm", folder.path + "/bin/swift"], in: folder)
        try tool("apt-cache", "printf '  Candidate: 6.0.3-2\\n'")
        #expect(try packages("build").errors.contains("finds no 'swift' on PATH"))
    }

    @Test(arguments: [
        ("E: Unable to fetch some archives\nErr:1 Temporary failure resolving 'deb.debian.org'", "check the network"),
        ("E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full"),
        ("E: Unable to locate package x", "made for Debian 12 and 13"),
    ])
    func aFailureOfAptHasItsReason(_ words: String, _ reason: String) throws {
        try folder.write("uid", "0\n")
        try tool("apt-get", "printf '%s\\n' \"\(words)\" >&2; exit 100")
        let run = try packages("lint")
        #expect(run.status == 1)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(run.errors.contains("    apt-get update && apt-get install "))
    }

    @Test func another32BitSystemIsRefused() throws {
        let run = try ScriptRun(
            ["/bin/bash", "-c", "HOSTTYPE=arm; . \(ScriptRun.root)/Scripts/packages play"],
            environment: ["PATH": folder.path + "/bin"], in: folder)
        #expect(run.status == 1)
        #expect(run.errors.contains("needs a 64-bit system"), "\(run.errors)")
    }

    @Test func aSystemWithoutDpkgGetsTheNames() throws {
        _ = try ScriptRun(["rm", folder.path + "/bin/dpkg-query"], in: folder)
        let run = try packages("lint")
        #expect(run.status == 0)
        #expect(run.errors.contains("not Debian: install, under the names that they have here, python3 mandoc"))
    }

    @Test func aMissingToolchainIsNamed() throws {
        _ = try ScriptRun(["rm", folder.path + "/bin/swift"], in: folder)
        let run = try packages("build")
        #expect(run.status == 1)
        #expect(run.errors.contains("finds no 'swift' on PATH"))
    }
}
