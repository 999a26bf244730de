package import ControlProtocol
import NowPlaying

/// The figures of the daemon and of the library as families. Their labels are words of this table and the version, never texts of
/// clients, media or the network.
package enum DaemonMetrics {
    /// The families. `daemon`: the answer to `figures.get`; `library`: that to `library.status`; nil: there is none.
    package static func families(daemon: JSONValue?, library: JSONValue?) -> [MetricFamily] {
        let version = MetricFamily.Sample(1, ("version", Product.version))
        let up = [("daemon", daemon), ("library", library)].map { program, answer in
            MetricFamily.Sample(answer == nil ? 0 : 1, ("program", program))
        }
        let common = [
            MetricFamily("nowplaying_build", .info, "The version of nowplaying-web.", [version]),
            MetricFamily("nowplaying_up", .gauge, "1 if the program answers, else 0.", up),
        ]
        return common + (daemon.map(ofDaemon) ?? []) + (library.map(ofLibrary) ?? [])
    }

    private static func ofDaemon(_ answer: JSONValue) -> [MetricFamily] {
        let clock = answer["clock"]
        return [
            MetricFamily(
                "nowplaying_uptime_seconds", .gauge, unit: "seconds", "Time since the start of the daemon.",
                value(answer["uptime"])),
            MetricFamily(
                "nowplaying_plays", .counter, "Items that began to play, in the daemon's own sessions.",
                value(answer["plays"])),
            MetricFamily(
                "nowplaying_stalls", .counter, "Stalls: playback that waited for its source or its device.",
                value(answer["stalls"])),
            MetricFamily(
                "nowplaying_drifts", .counter, "Corrections of a published position.", value(answer["drifts"])),
            MetricFamily(
                "nowplaying_underruns", .counter, "Times at which the output ran out of frames during playback.",
                value(answer["underruns"])),
            MetricFamily(
                "nowplaying_wakeups", .counter, "Voluntary context switches of the daemon.", value(answer["wakeups"])),
            MetricFamily(
                "nowplaying_clock_error_seconds", .gauge, unit: "seconds",
                "Published position less the audible one, at the last comparison.", value(clock?["error"])),
            MetricFamily(
                "nowplaying_clock_skew_ratio", .gauge, unit: "ratio",
                "Relative excess speed of the device over the monotonic clock.", value(clock?["skew"])),
            MetricFamily(
                "nowplaying_clock_uncertainty_seconds", .gauge, unit: "seconds",
                "Uncertainty of the position that the device reports.", value(clock?["uncertainty"])),
            MetricFamily(
                "nowplaying_queue_items", .gauge, unit: "items", "Items in the queues of all sessions.",
                value(answer["queue"])),
            MetricFamily(
                "nowplaying_sessions", .gauge, "Sessions by their state.",
                PlaybackState.allCases.flatMap { state in
                    samples(answer["sessions"]?[state.rawValue], ("state", state.rawValue))
                }),
            MetricFamily(
                "nowplaying_clients", .gauge, "Connections to the socket of the daemon.", value(answer["clients"])),
        ]
    }

    private static func ofLibrary(_ answer: JSONValue) -> [MetricFamily] {
        let scan = answer["lastScan"]
        let isScanning = answer["scan"]?.objectValue != nil
        let modes = answer["roots"]?.arrayValue?.compactMap { $0["mode"]?.stringValue } ?? []
        return [
            MetricFamily(
                "nowplaying_library_tracks", .gauge, unit: "tracks", "Tracks in the library.",
                value(answer["tracks"])),
            MetricFamily(
                "nowplaying_library_duration_seconds", .gauge, unit: "seconds", "Duration of all tracks.",
                value(answer["duration"])),
            MetricFamily(
                "nowplaying_library_folders", .gauge, unit: "folders", "Folders of the library by their mode.",
                ["unseen", "watched", "walked", "missing"].map { mode in
                    MetricFamily.Sample(Double(modes.count { $0 == mode }), ("mode", mode))
                }),
            MetricFamily(
                "nowplaying_library_faults", .gauge, unit: "faults", "Files that the library cannot read.",
                value(answer["faultCount"])),
            MetricFamily(
                "nowplaying_library_scanning", .gauge, "1 while a scan is in progress, else 0.",
                [MetricFamily.Sample(isScanning ? 1 : 0)]),
            MetricFamily(
                "nowplaying_library_last_scan_timestamp_seconds", .gauge, unit: "seconds",
                "Unix time of the end of the last scan.", value(scan?["finished"])),
            MetricFamily(
                "nowplaying_library_last_scan_duration_seconds", .gauge, unit: "seconds",
                "Duration of the last scan.", value(scan?["seconds"])),
        ]
    }

    private static func value(_ value: JSONValue?) -> [MetricFamily.Sample] { samples(value, nil) }

    private static func samples(
        _ value: JSONValue?, _ label: (name: String, value: String)?
    ) -> [MetricFamily.Sample] {
        (value?.doubleValue).map { [MetricFamily.Sample($0, label)] } ?? []
    }
}
