import Testing

/// `Scripts/check_sources.py` finds each kind of fault in a small package for this test.
@Suite struct SourceCheckTests {
    private let folder: Scratch

    /// A package of two targets without a fault: `Upper` stands on `Lower`.
    init() throws {
        folder = try Scratch()
        try manifest(lowerNeeds: [])
        try folder.write("Sources/Lower/Lower.swift", "/// A type.\npackage struct Lower {}\n")
        try folder.write("Sources/Upper/Upper.swift", "import Lower\n\n/// A type.\npackage struct Upper {}\n")
    }

    private func manifest(lowerNeeds: [String]) throws {
        let needs = lowerNeeds.map { #"{"byName": ["\#($0)", null]}"# }.joined(separator: ",")
        try folder.write(
            "manifest.json",
            """
            {"targets": [
             {"name": "Lower", "type": "regular", "dependencies": [\(needs)]},
             {"name": "Upper", "type": "regular", "dependencies": [{"byName": ["Lower", null]}]},
             {"name": "UpperTests", "type": "test", "dependencies": [{"byName": ["Upper", null]}]}]}
            """)
    }

    private func check() throws -> ScriptRun {
        try ScriptRun(
            [
                "python3", "-B", ScriptRun.root + "/Scripts/check_sources.py", "--root", folder.path, "--manifest",
                folder.path + "/manifest.json",
            ], in: folder)
    }

    private func expectFinding(_ wanted: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let run = try check()
        #expect(run.status == 1, "\(run.text)\(run.errors)", sourceLocation: sourceLocation)
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 1, "\(run.text)", sourceLocation: sourceLocation)
        #expect(run.text.contains(wanted), "\(run.text)", sourceLocation: sourceLocation)
    }

    @Test func nothingIsFoundInACleanPackage() throws {
        let run = try check()
        #expect(run.text.isEmpty && run.errors.isEmpty)
        #expect(run.status == 0)
    }

    /// `true`: the cases are commands.
    @Test(arguments: [("pause", true), ("other", false)])
    func aDefaultAmongCommandsIsFound(_ name: String, isFound: Bool) throws {
        try folder.write(
            "Sources/Lower/RemoteCommand.swift", "/// Commands.\nenum RemoteCommand {\n    case play, pause, stop\n}\n")
        let text = """
            private func act(_ command: RemoteCommand) {
                switch command {
                case .play: begin()
                case .\(name): end()
                default: seek()
                }
            }
            """
        try folder.write("Sources/Upper/Wrong.swift", text)
        guard isFound else { return #expect(try check().status == 0) }
        try expectFinding("Sources/Upper/Wrong.swift:5: a default in a switch over commands")
    }

    /// Each line stands in a class.
    @Test(arguments: [
        "var position = 0.0", "package var position: Double?", "weak var owner: Owner?", "lazy var owner = Owner()",
        "var position = 0.0 { didSet { note() } }", "package internal(set) var position: Double",
        "let state = Mutex(State())", "var position: Double? {\n        didSet { note() }\n    }",
        "var lines: [(String) -> Void] = []",
    ])
    func stateThatOtherFilesWriteIsFound(_ line: String) throws {
        try folder.write(
            "Sources/Upper/Owner.swift",
            "/// An owner.\nfinal class Owner {\n    /// State.\n    \(line)\n}\n")
        try expectFinding("Sources/Upper/Owner.swift:4: other files can")
    }

    @Test(arguments: [
        "final class Owner {\n    private var position = 0.0\n    private(set) var item: Item?\n    let part = Part()\n}",
        "private final class Owner {\n    var position = 0.0\n}",
        "struct Record {\n    var item: Item\n}",
        "final class Owner {\n    var isOpen: Bool { part.isOpen }\n    static let limit = Limit()\n}",
        "final class Owner {\n    var isOpen: Bool {\n        part.isOpen\n    }\n}",
        "final class Owner {\n    var onEnd: (@Loop () -> Void)?\n    var isUsed: @Loop (Part) throws -> Bool = { _ in true }\n}",
    ])
    func privateStateAndRecordsAreNot(_ text: String) throws {
        try folder.write("Sources/Upper/Owner.swift", "/// An owner.\n\(text)\n")
        let run = try check()
        #expect(!run.text.contains("other files can"), "\(run.text)")
    }

    @Test(arguments: [("get set", true), ("get", false)])
    func onlyAProtocolWithASetterExempts(_ access: String, isExempt: Bool) throws {
        try folder.write(
            "Sources/Lower/Port.swift",
            "/// A port.\npackage protocol Port {\n    /// Its owner.\n    var owner: Lower? { \(access) }\n}\n")
        try folder.write(
            "Sources/Upper/Owner.swift", "/// A port.\nfinal class Owner: Port {\n    package var owner: Lower?\n}\n")
        if isExempt {
            #expect(try check().text == "")
        } else {
            try expectFinding("Sources/Upper/Owner.swift:3: other files can write owner")
        }
    }

    @Test func aStructThatOthersMutateIsNoRecord() throws {
        try folder.write(
            "Sources/Upper/Order.swift",
            "/// An order.\nstruct Order {\n    var item: Item?\n    /// Takes it.\n    mutating func take() {}\n}\n")
        try expectFinding("Sources/Upper/Order.swift:3: other files can write item")
    }

    @Test(arguments: ["import Upper", "package import Upper", "@testable import Upper", "import struct Upper.Upper"])
    func anImportUpTheListIsFound(_ line: String) throws {
        try folder.write("Sources/Lower/Wrong.swift", "// Why.\n\(line)\n")
        try expectFinding("Sources/Lower/Wrong.swift:2: Lower imports Upper")
    }

    @Test(arguments: [
        "let a = Int64((seconds * 2).rounded())", "let a = Int(1.5 * Double(4))", "let a = UInt32(seconds)",
        "let a = Int32(min(seconds, 3) * 1e3)", "let a = \"\\(Int(seconds)) s\"",
        "let b = 2 * seconds; let a = Int16(b + 0.5)",
        "let a = Int64(other.duration)",
    ])
    func aConversionThatTrapsIsFound(_ line: String) throws {
        try folder.write("Sources/Lower/Type.swift", "private struct Type {\n    var duration: Double\n}\n")
        try folder.write("Sources/Lower/Wrong.swift", "private func wrong(seconds: Double) {\n    \(line)\n}\n")
        try expectFinding("Sources/Lower/Wrong.swift:2: ")
    }

    @Test(arguments: [
        "let a = Int64(clamping: (seconds * 2).rounded())", "let a = Int64(exactly: seconds)", "let a = Int64(count)",
        "// Int64(seconds)", "let a = \"Int64(seconds)\"", "let a = Int(values.count) + Int(Int64(clamping: seconds))",
        "let a = Double(Int(count))", "let a = Int(count > 1 ? 2 : 3)",
    ])
    func aConversionThatDoesNotTrapIsNone(_ line: String) throws {
        try folder.write(
            "Sources/Lower/Right.swift",
            "private func right(seconds: Double, count: Int, values: [Double]) {\n    \(line)\n}\n")
        let run = try check()
        #expect(run.status == 0, "\(run.text)\(run.errors)")
    }

    @Test(arguments: [
        "let a = page.granule + 1", "let a = 2 * page.granule", "let a = start + info.lengthInFrames",
        "let a = ov_pcm_total(file, 0) * 2", "a += info.frames",
    ])
    func aSumWithAClaimIsFound(_ line: String) throws {
        try folder.write("Sources/AudioCore/Wrong.swift", "private func wrong() {\n    \(line)\n}\n")
        try expectFinding("Sources/AudioCore/Wrong.swift:2: an unchecked sum or product")
    }

    @Test func aLengthThatNobodyBoundedIsFound() throws {
        try folder.write("Sources/Lower/Wrong.swift", "private func wrong() {\n    use(decoder.lengthInFrames)\n}\n")
        try expectFinding("Sources/Lower/Wrong.swift:2: lengthInFrames is what a file claims")
        try folder.write("Sources/Lower/Wrong.swift", "private func right() {\n    use(decoder.boundedLength)\n}\n")
        #expect(try check().status == 0)
    }

    @Test(arguments: [
        "// libFLAC.so.12", "// install libflac12", "// libmpg123-0t64", "// libsqlite3-0", "// (libavformat59)",
    ])
    func aNameOfOneReleaseIsFound(_ line: String) throws {
        try folder.write("Sources/Lower/Names.swift", "\(line)\n")
        try expectFinding("Sources/Lower/Names.swift:1: names lib")
    }

    @Test(arguments: [
        "// libmpg123, libebur128, libFLAC and libsqlite3", "// libsndfile1-dev libpcre2-dev", "// libX.so /lib64",
    ])
    func aNameOfAllReleasesIsNone(_ line: String) throws {
        try folder.write("Sources/Lower/Names.swift", "\(line)\n")
        #expect(try check().status == 0)
    }

    @Test(arguments: ["fopen(path, \"r\")", "opendir(path)", "fdopendir(number)"])
    func aFileThatMayBeNullIsFound(_ call: String) throws {
        let file = "private func read() {\n    let file = \(call)"
        try folder.write("Sources/Lower/Files.swift", file + "\n    fclose(file)\n}\n")
        try expectFinding("Sources/Lower/Files.swift:2: does not look for null")
        for right in [
            file + "!\n}\n", "private func read() {\n    guard true,\n    let file = \(call)\n    else { return }\n}\n",
        ] {
            try folder.write("Sources/Lower/Files.swift", right)
            #expect(try check().status == 0)
        }
    }

    @Test func aDependencyUpTheListIsFound() throws {
        try manifest(lowerNeeds: ["Upper"])
        try expectFinding("Package.swift: Lower needs Upper")
    }

    @Test func aTestMayNotUseWhatItDoesNotDeclare() throws {
        try folder.write("Tests/UpperTests/Tests.swift", "import Lower\nimport Upper\n")
        try expectFinding("Tests/UpperTests/Tests.swift:1: UpperTests imports Lower")
    }

    @Test(arguments: ["Foundation", "FoundationEssentials"])
    func foundationIsForTestsOnly(_ name: String) throws {
        try folder.write("Tests/UpperTests/Tests.swift", "import \(name)\n")
        #expect(try check().status == 0)
        try folder.write("Sources/Lower/Wrong.swift", "import \(name)\n")
        try expectFinding("Sources/Lower/Wrong.swift:1: \(name) is for tests only")
    }

    @Test func aFileOf401LinesIsTooLong() throws {
        try folder.write("Sources/Lower/Long.swift", String(repeating: "//\n", count: 400))
        #expect(try check().status == 0)
        try folder.write("Sources/Lower/Long.swift", String(repeating: "//\n", count: 401))
        try expectFinding("Sources/Lower/Long.swift: 401 lines, 400 at most")
    }

    @Test(arguments: [("Scripts/long.py", ""), ("Scripts/long", "#!/bin/bash\n"), ("Sources/CLower/long.c", "")])
    func soIsOneOfAnotherLanguage(_ name: String, _ head: String) throws {
        try folder.write(name, head + String(repeating: "#\n", count: 400 - (head.isEmpty ? 0 : 1)))
        #expect(try check().status == 0)
        try folder.write(name, head + String(repeating: "#\n", count: 401 - (head.isEmpty ? 0 : 1)))
        try expectFinding("\(name): 401 lines, 400 at most")
    }

    @Test func theMedianIsLooked() throws {
        for name in ["A", "B", "C"] {
            try folder.write("Sources/Lower/\(name).swift", String(repeating: "//\n", count: 150))
        }
        try expectFinding("Sources: the median file has 150 lines")
    }

    @Test(arguments: [
        "package func act() {}", "package static func act() {}", "@PlayerLoop package final class Wrong {}",
        "nonisolated package func act() {}", "package let seconds: Double", "package private(set) var rate = 1.0",
        "package init(_ a: Int) {}", "package enum Wrong {}", "package typealias Wrong = Int",
        "package protocol Wrong {\n}",
    ])
    func aDeclarationWithoutDocumentationIsFound(_ declaration: String) throws {
        try folder.write("Sources/Lower/Wrong.swift", "\(declaration)\n")
        try expectFinding("Sources/Lower/Wrong.swift:1: no doc comment")
        try folder.write("Sources/Lower/Wrong.swift", "/// A type.\n@inlinable\n\(declaration)\n")
        #expect(try check().status == 0)
    }

    @Test(arguments: ["struct Wrong {}", "final class Wrong {}", "func act() {}", "let count = 1", "enum Wrong {}"])
    func whatOtherFilesSeeIsDocumented(_ declaration: String) throws {
        try folder.write("Sources/Lower/Wrong.swift", "\(declaration)\n")
        try expectFinding("Sources/Lower/Wrong.swift:1: no doc comment")
        for name in ["Sources/Lower/main.swift", "Tests/UpperTests/Wrong.swift"] {
            try folder.write(name, "\(declaration)\n")
        }
        try folder.write("Sources/Lower/Wrong.swift", "private \(declaration)\n\n/// A type.\n\(declaration)\n")
        #expect(try check().text == "")
    }

    @Test func aRequirementWithoutDocumentationIsFoundAndItsImplementationIsNot() throws {
        let implementation = "/// A type.\npackage struct Right: Port {\n    package func act() {}\n}\n"
        try folder.write("Sources/Upper/Right.swift", implementation)
        try folder.write("Sources/Lower/Port.swift", "/// A port.\npackage protocol Port {\n    func act()\n}\n")
        try expectFinding("Sources/Lower/Port.swift:3: no doc comment: func act()")
        try folder.write(
            "Sources/Lower/Port.swift", "/// A port.\npackage protocol Port {\n    /// Acts.\n    func act()\n}\n")
        #expect(try check().status == 0)
    }

    @Test(arguments: [
        ("struct Wrong", "func act(_ a: Int) {}", "wrong.act(1)"),
        ("struct Wrong", "func act(for a: Int) -> Int { a }", "wrong.act(\n    for: 1)"),
        ("final class Wrong", "private(set) var seconds = 1.0", "\"\\(wrong.seconds) s\""),
        ("struct Wrong", "let seconds: Double", "Wrong(seconds: 1)"), ("struct Wrong", "init(_ a: Int) {}", "Wrong(1)"),
        ("struct Wrong", "subscript(place: Int) -> Int { place }", "Wrong()[1]"),
        ("enum Wrong", "case wait(Double)", "Wrong.wait(1)"), ("enum Wrong", "struct Part {}", "Wrong.Part()"),
        ("extension Lower", "func act() {}", "lower.act()"),
    ])
    func aMemberThatAnotherFileUsesIsDocumented(_ type: String, _ member: String, _ use: String) throws {
        func write(_ before: String, _ outer: String = "") throws {
            try folder.write(
                "Sources/Lower/Wrong.swift", "/// A type.\n\(outer)\(type) {\n\(before)    \(member)\n}\n")
        }
        try write("")
        #expect(try check().text == "", "nobody uses it")
        try folder.write(
            "Sources/Lower/Use.swift", "// \(use.split(separator: "\n")[0])\nprivate let words = \"wrong.act()\"\n")
        #expect(try check().text == "", "it is only talked about")
        try folder.write("Sources/Lower/Use.swift", "private let used = \(use)\n")
        try expectFinding("Sources/Lower/Wrong.swift:3: no doc comment: \(member)")
        try write("    /// A type.\n    @inlinable\n")
        #expect(try check().text == "")
        try write("", "private ")
        #expect(try check().text == "", "nobody else sees it")
    }

    @Test func whatAPrivateTypeGoesOnWithIsPrivate() throws {
        try folder.write(
            "Sources/Lower/Right.swift", "private struct Right {}\n\nextension Right {\n    func act() {}\n}\n")
        try folder.write("Sources/Lower/Use.swift", "private let used = other.act()\n")
        #expect(try check().text == "")
    }

    @Test(arguments: [
        "private func act() {}", "override func act() {}", "private(set) var act: String", "case act",
        "case act(Lower)",
        "static func == (a: Self, b: Self) -> Bool { a.act == b.act }", "func act(of place: Int) {}",
        "func other() { func act() {} }",
    ])
    func otherMembersNeedNoDocumentation(_ member: String) throws {
        try folder.write("Sources/Lower/Right.swift", "/// A type.\nclass Right {\n    \(member)\n}\n")
        try folder.write("Sources/Lower/Use.swift", "private let used = right.act()\n")
        #expect(try check().text == "")
    }

    @Test(arguments: ["", "package "])
    func onlyWhatConformsIsDocumentedByItsProtocol(_ access: String) throws {
        try folder.write(
            "Sources/Lower/Port.swift",
            "/// A port.\n\(access)protocol Port {\n    /// Acts.\n    func act()\n}\n\n/// More.\nprotocol Harbour: Port {}\n"
        )
        try folder.write("Sources/Lower/Use.swift", "private let used = wrong.act()\n")
        for conformance in [": Port", "<Part>: Equatable, Harbour", ""] {
            try folder.write(
                "Sources/Lower/Wrong.swift",
                "/// A type.\n\(access)struct Wrong\(conformance) {\n    \(access)func act() {}\n}\n")
            if !conformance.isEmpty { #expect(try check().text == "") }
        }
        try expectFinding("Sources/Lower/Wrong.swift:3: no doc comment: \(access)func act()")
        try folder.write("Sources/Lower/Conforms.swift", "extension Wrong: Port {}\n")
        #expect(try check().text == "")
    }

    @Test(arguments: [
        "    package var title: String?", "    package let isReady: Bool", "    package var count: Int",
        "    package let format: Format", "    package static func == (a: Self, b: Self) -> Bool { true }",
    ])
    func whatSpeaksForItselfNeedsNone(_ line: String) throws {
        try folder.write("Sources/Lower/Plain.swift", "/// A type.\npackage struct Plain {\n\(line)\n}\n")
        #expect(try check().text == "")
    }

    @Test func aFolderOfThisMachineIsFound() throws {
        try folder.write("notes.txt", "it is in \(folder.path)/Sources\n")
        try expectFinding("notes.txt: names")
    }

    @Test(arguments: [
        ("/// Whether it is ready.", "opens with Whether"), ("// Who asks waits.", "opens with Who"),
        ("    /// What it does.", "opens with What"),
        ("// It tells the loop.", "tells; write"), ("let told = 1", "told; write"),
        ("let words = \"Tell us\"", "Tell; write"),
    ])
    func wordingThatTheStyleRulesOutIsFound(_ line: String, _ finding: String) throws {
        try folder.write("Sources/Lower/Wrong.swift", "private struct Wrong {\n\(line)\n}\n")
        try expectFinding("Sources/Lower/Wrong.swift:2: ")
        #expect(try check().text.contains(finding))
        // The words may stand in tests, the openers may not.
        try folder.write("Sources/Lower/Wrong.swift", "")
        try folder.write("Tests/UpperTests/Wrong.swift", "private struct Wrong {\n\(line)\n}\n")
        #expect(try check().status == (finding.hasPrefix("opens") ? 1 : 0))
    }

    @Test(arguments: ["/// The state, as it was told.", "/// Whichever is first.", "// Who is it?", "let teller = 1"])
    func otherWordingIsNone(_ line: String) throws {
        try folder.write("Tests/UpperTests/Right.swift", "private struct Right {\n\(line)\n}\n")
        #expect(try check().text == "")
    }
}
