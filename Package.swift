// swift-tools-version: 6.2
import PackageDescription

/// True if nowplaying-decode is built: scripts of the Makefile set it where the libraries that it needs have headers.
let buildsDecode = Context.environment["NOWPLAYING_DECODE"] == "1"

/// One array for every target of ours, tests included.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Without `usesRegex` it has no regular expressions of the standard library: they would make a start load a megabyte.
func library(_ name: String, _ dependencies: [Target.Dependency] = [], usesRegex: Bool = false) -> Target {
    let lean = SwiftSetting.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])
    return .target(name: name, dependencies: dependencies, swiftSettings: settings + (usesRegex ? [] : [lean]))
}

func program(_ name: String, _ dependencies: [Target.Dependency], in folder: String? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: folder, swiftSettings: settings,
        linkerSettings: [.linkedLibrary("m"), .unsafeFlags(["-Xlinker", "--gc-sections"])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// A module of our own C code. `exports`: functions that other libraries are to find in the program.
func c(_ name: String, _ needs: [Target.Dependency] = [], in folder: String? = nil, exports: [String] = []) -> Target {
    let flags = exports.flatMap { ["-Xlinker", "--export-dynamic-symbol=" + $0] }
    return .target(
        name: name, dependencies: needs, path: folder ?? "Sources/SystemLibraries/\(name)",
        cSettings: [.unsafeFlags(["-Wall", "-Werror"])], linkerSettings: flags.isEmpty ? [] : [.unsafeFlags(flags)])
}

func systemLibrary(_ name: String, package debian: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/SystemLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

let package = Package(
    name: "nowplayingd",  // Each executable target is a product too.
    targets: [
        systemLibrary("CPulse", package: "libpulse-dev"),
        systemLibrary("CFLAC", package: "libflac-dev"),
        systemLibrary("CSndFile", package: "libsndfile1-dev"),
        systemLibrary("CMPG123", package: "libmpg123-dev"),
        systemLibrary("CVorbisFile", package: "libvorbis-dev"),
        systemLibrary("COpusFile", package: "libopusfile-dev"),
        systemLibrary("CExpat", package: "libexpat1-dev"),
        systemLibrary("CSystemd", package: "libsystemd-dev"),
        systemLibrary("CINIH", package: "libinih-dev"),
        systemLibrary("CMosquitto", package: "libmosquitto-dev"),
        systemLibrary("CMessageDigest", package: "libmd-dev"),
        systemLibrary("CSQLite", package: "libsqlite3-dev"),
        systemLibrary("CPCRE2", package: "libpcre2-dev"),
        systemLibrary("CMicroHTTP", package: "libmicrohttpd-dev", pkgConfig: "libmicrohttpd"),
        systemLibrary("CWSLay", package: "libwslay-dev"),
        systemLibrary("CQREncode", package: "libqrencode-dev"),
        systemLibrary("CSoxr", package: "libsoxr-dev"),
        c("CLinux"),
        c("CLibraryNames"),  // Scripts/library-names makes its header from the system that builds.
        // It defines the functions of six libraries, which nothing links: see CLateLibraries.h.
        c("CLateLibraries", ["CLibraryNames", "CPulse", "CFLAC", "CMPG123", "CSndFile", "CVorbisFile", "COpusFile"]),
        c("CWebAnswers", exports: ["sendmsg", "recv", "gnutls_record_send", "gnutls_record_recv"]),

        // Imports point down this list only; `make lint` checks it.
        library("NowPlaying"),
        library("Alarms", ["NowPlaying"]),
        library("ChildDecoding", ["NowPlaying"]),
        library("TCPClient", ["NowPlaying"]),
        // It reads with nothing but an open descriptor: a confined process needs no more of the system.
        library("TrackReading", ["NowPlaying", "CLinux"]),
        library("ControlProtocol", ["NowPlaying"]),
        library("SnapcastControl", ["ControlProtocol"]),
        library("MPDProtocol", ["NowPlaying"]),
        library("WebProtocol", ["ControlProtocol", "NowPlaying", "CMessageDigest"], usesRegex: true),
        library("NowPlayingClient", ["ControlProtocol", "NowPlaying", "CLinux"]),
        library("ConfigurationFiles", ["ControlProtocol", "NowPlaying", "CINIH", "CLinux"]),
        library("LinuxSystem", ["NowPlaying", "CLinux", "CSystemd"]),
        library("AudioCore", ["ChildDecoding", "NowPlaying", "LinuxSystem", "CLinux"]),
        library(
            "AudioDecoders",
            [
                "AudioCore", "LinuxSystem", "TrackReading", "ChildDecoding", "NowPlaying", "CFLAC", "CSndFile",
                "CMPG123", "CVorbisFile", "COpusFile", "CExpat", "CLateLibraries", "CLibraryNames", "CLinux",
            ]),
        library(
            "PulseOutput",
            ["AudioCore", "LinuxSystem", "NowPlaying", "CPulse", "CLateLibraries", "CLibraryNames", "CLinux"]),
        library(
            "MixedOutput",
            [
                "AudioCore", "LinuxSystem", "ControlProtocol", "TCPClient", "NowPlaying", "CSoxr", "CLibraryNames",
                "CLinux",
            ]),
        library("PlaybackEngine", ["AudioCore", "LinuxSystem", "NowPlaying", "CLinux"]),
        library(
            "ArtworkLookup",
            ["AudioDecoders", "AudioCore", "LinuxSystem", "NowPlaying", "CMessageDigest", "CLinux"]),
        library("TrackDatabase", ["ControlProtocol", "NowPlaying", "CSQLite", "CLinux"], usesRegex: true),
        library("ControlServer", ["LinuxSystem", "ControlProtocol", "NowPlaying", "CLinux"]),
        library(
            "MediaAccess",
            [
                "ArtworkLookup", "PlaybackEngine", "AudioDecoders", "TrackReading", "AudioCore", "LinuxSystem",
                "ControlProtocol", "NowPlaying", "CLinux",
            ]),
        library(
            "StateKeeping",
            [
                "PlaybackEngine", "AudioCore", "LinuxSystem", "ControlProtocol", "NowPlaying", "CLibraryNames",
                "CLinux",
            ]),
        library(
            "DaemonConfiguration",
            [
                "MediaAccess", "ArtworkLookup", "PlaybackEngine", "TrackReading", "AudioCore", "LinuxSystem",
                "ConfigurationFiles", "ControlProtocol", "NowPlaying",
            ]),
        library(
            "Sessions",
            [
                "DaemonConfiguration", "StateKeeping", "MediaAccess", "ControlServer", "ArtworkLookup",
                "PlaybackEngine", "AudioDecoders", "AudioCore", "LinuxSystem", "ControlProtocol", "NowPlaying",
                "CLinux",
            ]),
        library(
            "DaemonRuntime",
            [
                "Sessions", "DaemonConfiguration", "StateKeeping", "MediaAccess", "ControlServer", "ArtworkLookup",
                "PlaybackEngine", "MixedOutput", "PulseOutput", "AudioDecoders", "AudioCore", "LinuxSystem",
                "ConfigurationFiles", "ControlProtocol", "NowPlaying", "CLinux",
            ]),
        library(
            "BridgeRuntime",
            ["NowPlayingClient", "ConfigurationFiles", "LinuxSystem", "ControlProtocol", "NowPlaying", "CLinux"]),
        library(
            "LibraryRuntime",
            [
                "BridgeRuntime", "NowPlayingClient", "MediaAccess", "ArtworkLookup", "ControlServer", "TrackDatabase",
                "TrackReading", "AudioDecoders", "AudioCore", "ChildDecoding", "LinuxSystem", "ConfigurationFiles",
                "ControlProtocol", "NowPlaying", "CLinux",
            ], usesRegex: true),
        library(
            "WebAccess",
            [
                "BridgeRuntime", "NowPlayingClient", "LinuxSystem", "SnapcastControl", "ControlProtocol", "NowPlaying",
                "CMessageDigest", "CLinux",
            ]),
        library(
            "MPRISBridge",
            ["BridgeRuntime", "NowPlayingClient", "LinuxSystem", "ControlProtocol", "NowPlaying", "CSystemd", "CLinux"]),
        library(
            "MPDBridge",
            [
                "BridgeRuntime", "NowPlayingClient", "ConfigurationFiles", "LinuxSystem", "MPDProtocol",
                "ControlProtocol", "NowPlaying", "CLinux", "CPCRE2", "CSQLite",
            ], usesRegex: true),
        library(
            "WebBridge",
            [
                "WebAccess", "BridgeRuntime", "NowPlayingClient", "LinuxSystem", "WebProtocol", "SnapcastControl",
                "ControlProtocol", "TCPClient", "NowPlaying", "CMicroHTTP", "CWebAnswers", "CWSLay", "CSystemd",
                "CLinux",
            ]),
        library(
            "SnapcastBridge",
            [
                "BridgeRuntime", "NowPlayingClient", "LinuxSystem", "ConfigurationFiles", "ControlProtocol",
                "TCPClient", "NowPlaying", "CLinux",
            ], usesRegex: true),
        program("nowplaying-mpd", ["MPDBridge", "BridgeRuntime"]),
        program("nowplaying-web", ["WebBridge", "BridgeRuntime"]),
        program("nowplaying-mpris", ["MPRISBridge", "BridgeRuntime"]),
        program("nowplaying-snapcast", ["SnapcastBridge", "BridgeRuntime"]),
        program("nowplayingd", ["DaemonRuntime"]),
        program("nowplaying-library", ["LibraryRuntime"]),
        program(
            "nowplaying-tags",
            ["AudioDecoders", "AudioCore", "TrackReading", "ChildDecoding", "NowPlaying", "CLateLibraries", "CLinux"]),
        program(
            "nowplayingctl",
            [
                "NowPlayingClient", "SnapcastControl", "ControlProtocol", "TCPClient", "NowPlaying", "CQREncode",
                "CLibraryNames", "CLinux",
            ]),
        program(
            "nowplaying-hooks",
            ["BridgeRuntime", "NowPlayingClient", "LinuxSystem", "ControlProtocol", "NowPlaying", "CLinux"]),
        program(
            "nowplaying-mqtt",
            [
                "BridgeRuntime", "NowPlayingClient", "LinuxSystem", "ControlProtocol", "NowPlaying", "CMosquitto",
                "CLinux",
            ]),

        .target(
            name: "TestSupport",
            dependencies: [
                "AudioCore", "LinuxSystem", "ControlProtocol", "TCPClient", "NowPlaying", "CLibraryNames", "CLinux",
            ], path: "Tests/TestSupport", swiftSettings: settings),
        tests("NowPlayingTests", ["NowPlaying", "TestSupport"]),
        tests("AlarmsTests", ["Alarms", "NowPlaying", "TestSupport"]),
        tests(
            "ControlServerTests",
            ["ControlServer", "LinuxSystem", "ControlProtocol", "NowPlaying", "TestSupport", "CLinux"]),
        tests(
            "LibraryRuntimeTests",
            [
                "LibraryRuntime", "TrackDatabase", "TrackReading", "nowplaying-tags", "nowplayingd",
                "nowplaying-library", "nowplayingctl", "ArtworkLookup", "AudioDecoders", "MediaAccess", "ControlServer",
                "LinuxSystem", "ConfigurationFiles", "ControlProtocol", "NowPlaying", "TestSupport", "CLinux",
            ]),
        .target(
            name: "TestLibraries", dependencies: ["TrackDatabase"], path: "Tests/TestLibraries",
            swiftSettings: settings),
        .executableTarget(
            name: "TestLibraryWriter", dependencies: ["TrackDatabase", "TestLibraries"],
            path: "Tests/TestLibraryWriter", swiftSettings: settings, linkerSettings: [.linkedLibrary("m")]),
        tests(
            "TrackDatabaseTests",
            ["TrackDatabase", "TestLibraryWriter", "TestLibraries", "TestSupport", "ControlProtocol", "NowPlaying"]),
        tests(
            "LibraryTests",
            [
                "nowplaying-library", "LibraryRuntime", "TrackDatabase", "TestLibraries", "LinuxSystem",
                "ControlProtocol", "NowPlaying", "TestSupport",
            ]),
        tests("ChildDecodingTests", ["ChildDecoding"]),
        tests("ControlProtocolTests", ["ControlProtocol", "NowPlaying", "TestSupport"]),
        tests("MPDProtocolTests", ["MPDProtocol", "TestSupport"]),
        tests("WebProtocolTests", ["WebProtocol", "ControlProtocol"]),
        tests(
            "WebBridgeTests",
            [
                "WebBridge", "WebAccess", "WebProtocol", "nowplaying-web", "nowplaying-library", "nowplayingd",
                "BridgeRuntime", "LinuxSystem", "ControlProtocol", "NowPlaying", "TestSupport", "CLinux", "CWebAnswers",
            ]),
        tests(
            "MPDBridgeTests",
            [
                "MPDBridge", "MPDProtocol", "nowplaying-mpd", "nowplaying-library", "nowplayingd", "BridgeRuntime",
                "ConfigurationFiles", "LinuxSystem", "ControlProtocol", "NowPlaying", "NowPlayingClient", "TestSupport",
                "CSQLite",
            ]),
        tests("LinuxSystemTests", ["LinuxSystem", "NowPlaying", "TestSupport", "CLinux"]),
        c("CGainPaths", ["CLinux"], in: "Tests/GainPaths"),
        tests(
            "AudioCoreTests", ["AudioCore", "ChildDecoding", "LinuxSystem", "NowPlaying", "TestSupport", "CGainPaths"]),
        tests(
            "AudioDecodersTests",
            [
                "AudioDecoders", "TrackReading", "nowplaying-tags", "ChildDecoding", "AudioCore", "LinuxSystem",
                "NowPlaying", "TestSupport", "CLinux",
            ]),
        tests(
            "PulseOutputTests",
            ["PulseOutput", "MixedOutput", "AudioCore", "LinuxSystem", "NowPlaying", "CPulse", "CLinux", "TestSupport"]),
        tests(
            "MixedOutputTests",
            [
                "MixedOutput", "AudioCore", "LinuxSystem", "ControlProtocol", "NowPlaying", "TestSupport",
                "CVirtualTime", "CLinux",
            ]),
        c("CVirtualTime", in: "Tests/VirtualTime"),
        tests(
            "PlaybackEngineTests",
            ["PlaybackEngine", "MixedOutput", "AudioCore", "LinuxSystem", "NowPlaying", "TestSupport", "CVirtualTime"]),
        tests(
            "ArtworkLookupTests",
            ["ArtworkLookup", "AudioDecoders", "AudioCore", "LinuxSystem", "NowPlaying", "TestSupport"]),
        tests(
            "MediaAccessTests",
            [
                "MediaAccess", "PlaybackEngine", "ArtworkLookup", "AudioDecoders", "AudioCore", "LinuxSystem",
                "ControlProtocol", "NowPlaying", "TestSupport", "CLinux",
            ]),
        tests(
            "StateKeepingTests",
            [
                "StateKeeping", "MediaAccess", "PlaybackEngine", "AudioCore", "LinuxSystem", "ControlProtocol",
                "NowPlaying", "TestSupport", "CLinux",
            ]),
        tests(
            "DaemonRuntimeTests",
            [
                "DaemonRuntime", "Sessions", "DaemonConfiguration", "StateKeeping", "MediaAccess", "ControlServer",
                "nowplayingd", "ConfigurationFiles", "ControlProtocol", "PlaybackEngine", "ArtworkLookup", "AudioCore",
                "LinuxSystem", "NowPlaying", "TestSupport", "CLinux",
            ]),
        tests(
            "ClientTests",
            [
                "nowplayingctl", "nowplayingd", "NowPlayingClient", "SnapcastControl", "ControlProtocol", "TCPClient",
                "NowPlaying", "TestSupport",
            ]),
        tests(
            "BridgeTests",
            [
                "nowplaying-hooks", "nowplaying-mpd", "nowplaying-mqtt", "nowplayingctl", "nowplayingd",
                "BridgeRuntime", "NowPlayingClient", "ControlProtocol", "LinuxSystem", "NowPlaying", "TestSupport",
                "CLinux",
            ]),
        tests(
            "WebAccessTests",
            [
                "WebAccess", "nowplayingctl", "BridgeRuntime", "NowPlayingClient", "ConfigurationFiles", "LinuxSystem",
                "ControlProtocol", "NowPlaying", "TestSupport",
            ]),
        tests(
            "WebSecurityTests",
            [
                "nowplaying-web", "nowplayingd", "nowplayingctl", "LinuxSystem", "ControlProtocol", "NowPlaying",
                "TestSupport",
            ]),
        tests(
            "MPRISTests",
            [
                "MPRISBridge", "nowplaying-mpris", "nowplayingd", "nowplayingctl", "BridgeRuntime", "NowPlayingClient",
                "ConfigurationFiles", "LinuxSystem", "ControlProtocol", "NowPlaying", "TestSupport", "CSystemd",
            ]),
        tests(
            "SnapcastBridgeTests",
            [
                "SnapcastBridge", "nowplaying-snapcast", "nowplaying-web", "nowplayingd", "BridgeRuntime",
                "NowPlayingClient", "LinuxSystem", "ControlProtocol", "NowPlaying", "TestSupport", "CLinux",
            ]),
        tests(
            "FuzzTests",
            [
                "DaemonRuntime", "Sessions", "DaemonConfiguration", "StateKeeping", "MediaAccess", "ControlServer",
                "ArtworkLookup", "PlaybackEngine", "AudioDecoders", "TrackReading", "AudioCore", "MPRISBridge",
                "nowplaying-mqtt", "BridgeRuntime", "NowPlayingClient", "ConfigurationFiles", "MPDProtocol",
                "MPDBridge", "WebProtocol", "SnapcastBridge", "CWSLay", "ControlProtocol", "ChildDecoding",
                "LinuxSystem", "NowPlaying", "MixedOutput", "TestSupport", "CSystemd", "CLinux", "CVirtualTime",
                "SnapcastControl", "Alarms",
            ], exclude: ["Corpus", "RESULTS.md"]),
        tests("RepositoryTests", ["TestSupport"]),
        tests(
            "AcceptanceTests",
            [
                "DaemonConfiguration", "MediaAccess", "NowPlayingClient", "ControlProtocol", "LinuxSystem",
                "NowPlaying", "TestSupport", "CLinux", "CTracing",
            ]),
        c("CTracing", in: "Tests/Tracing"),
    ]
)

if buildsDecode {
    package.targets += [
        systemLibrary("CFFmpeg", package: "libavformat-dev"),
        systemLibrary("CCurl", package: "libcurl4-openssl-dev"),
        systemLibrary("CSeccomp", package: "libseccomp-dev"),
        systemLibrary("CEBUR128", package: "libebur128-dev"),
        program(
            "nowplaying-decode",
            ["ChildDecoding", "NowPlaying", "CFFmpeg", "CCurl", "CSeccomp", "CEBUR128", "CLinux"]),
    ]
    // Its handling of foreign bytes is fuzzed without its confinement.
    for target in package.targets where target.name == "FuzzTests" {
        target.dependencies += ["nowplaying-decode", "CFFmpeg"]
        target.swiftSettings?.append(.define("NOWPLAYING_DECODE"))
    }
}

// The optimizer halves the time of the tests; the thread sanitizer takes an optimized array for shared.
let hot = [
    "Alarms", "AudioCore", "AudioDecoders", "AudioDecodersTests", "ControlProtocol", "ControlServer", "LinuxSystem",
    "MPDBridge", "MPDProtocol", "MixedOutput", "NowPlaying", "PlaybackEngine", "PlaybackEngineTests", "Sessions",
    "TestSupport", "TrackDatabase", "TrackDatabaseTests", "TrackReading", "WebAccess", "WebBridge", "WebProtocol",
]
for target in package.targets where hot.contains(target.name) && Context.environment["NOWPLAYING_SANITIZER"] == nil {
    target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
}

// Scripts name the targets that they build. What these need lies above them, but for nowplaying-decode.
if let names = Context.environment["NOWPLAYING_ONLY"] {
    var wanted = Set(names.split(separator: " ").map(String.init))
    for target in (package.targets + package.targets).reversed() where wanted.contains(target.name) {
        for case .byNameItem(let name, _) in target.dependencies { wanted.insert(name) }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
}

// Only `make bench BENCH=library` and `make microbenchmarks` have use for these.
if Context.environment["NOWPLAYING_LIBRARY_BENCHMARK"] == "1" {
    package.targets.append(program("librarybenchmark", ["TrackDatabase", "TestLibraries"], in: "Benchmarks/Library"))
}
if Context.environment["NOWPLAYING_MICROBENCHMARKS"] == "1" {
    let needs: [Target.Dependency] = [
        "DaemonRuntime", "Sessions", "StateKeeping", "PlaybackEngine", "AudioCore", "ControlProtocol", "LinuxSystem",
        "NowPlaying",
    ]
    package.targets.append(program("microbenchmarks", needs, in: "Benchmarks/Micro"))
}
