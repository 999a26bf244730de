import ControlProtocol
import Testing
import WebProtocol

/// The text of figures, and the choice of its format.
@Suite struct MetricTextTests {
    private static func text(_ families: [MetricFamily], _ format: MetricsFormat) -> String {
        String(decoding: MetricFamily.text(families, format), as: UTF8.self)
    }

    private static let families = [
        MetricFamily("a_plays", .counter, "Plays \\ \"all\"\nof them.", [.init(3)]),
        MetricFamily("a_time_seconds", .gauge, unit: "seconds", "Time.", [.init(0.25)]),
        MetricFamily("a_build", .info, "Version.", [.init(1, ("version", "1\\\"\n2"))]),
        MetricFamily("a_up", .gauge, "Up.", [.init(1, ("program", "x")), .init(0, ("program", "y"))]),
        MetricFamily("a_absent", .gauge, "Absent.", []),
    ]

    @Test("OpenMetrics") func openMetrics() {
        #expect(
            Self.text(Self.families, .openMetrics) == #"""
                # TYPE a_plays counter
                # HELP a_plays Plays \\ \"all\"\nof them.
                a_plays_total 3
                # TYPE a_time_seconds gauge
                # UNIT a_time_seconds seconds
                # HELP a_time_seconds Time.
                a_time_seconds 0.25
                # TYPE a_build info
                # HELP a_build Version.
                a_build_info{version="1\\\"\n2"} 1
                # TYPE a_up gauge
                # HELP a_up Up.
                a_up{program="x"} 1
                a_up{program="y"} 0
                # EOF

                """#)
    }

    @Test("the text of Prometheus") func plain() {
        #expect(
            Self.text(Self.families, .plain) == #"""
                # HELP a_plays_total Plays \\ "all"\nof them.
                # TYPE a_plays_total counter
                a_plays_total 3
                # HELP a_time_seconds Time.
                # TYPE a_time_seconds gauge
                a_time_seconds 0.25
                # HELP a_build_info Version.
                # TYPE a_build_info gauge
                a_build_info{version="1\\\"\n2"} 1
                # HELP a_up Up.
                # TYPE a_up gauge
                a_up{program="x"} 1
                a_up{program="y"} 0

                """#)
    }

    @Test(
        "numbers",
        arguments: [
            (0, "0"), (-1, "-1"), (1e15, "1000000000000000"), (0.1, "0.1"), (-0.000_012, "-1.2e-05"), (.nan, "NaN"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (1e300, "1e+300"),
        ] as [(Double, String)])
    func numbers(value: Double, expected: String) {
        let text = Self.text([MetricFamily("a", .gauge, "A.", [.init(value)])], .plain)
        #expect(text.hasSuffix("\na \(expected)\n"))
    }

    @Test(
        "the format that a request prefers",
        arguments: [
            (nil, .openMetrics), ("*/*", .openMetrics), ("text/plain", .plain), ("text/*", .plain),
            ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .plain), ("application/openmetrics-text", .openMetrics),
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
            ),
            ("text/plain, application/openmetrics-text", .openMetrics), ("TEXT/PLAIN", .plain),
            ("text/html,application/xhtml+xml,*/*;q=0.8", .openMetrics), ("text/plain;q=0", .openMetrics),
            ("text/plain;q=0, */*", .openMetrics), ("application/openmetrics-text;q=0, */*", .plain),
            ("application/*", .openMetrics), ("image/png", .openMetrics), ("text/plain;q=x", .openMetrics),
            ("text/plain;q=2", .openMetrics), (",;,", .openMetrics),
        ] as [(String?, MetricsFormat)])
    func format(accept: String?, expected: MetricsFormat) throws {
        let headers = [("Host", "a")] + (accept.map { [("Accept", $0)] } ?? [])
        let head = try RequestHead(
            method: "GET", target: "/metrics", version: "HTTP/1.1", headers: headers.map { (name: $0.0, value: $0.1) })
        #expect(MetricsFormat(head) == expected)
    }

    private static let daemon: JSONValue = [
        "uptime": 12.5, "plays": 3, "stalls": 1, "drifts": 0, "underruns": 0, "wakeups": 99, "queue": 10, "clients": 2,
        "sessions": ["playing": 1, "paused": 0, "stopped": 0, "stalled": 0, "interrupted": 0, "\"}\nevil": 7],
        "clock": ["error": 0.001, "skew": 1e-5, "uncertainty": 0.002],
    ]
    private static let library: JSONValue = [
        "version": 4, "tracks": 7, "duration": 1234.5, "faultCount": 1,
        "roots": [
            ["name": "secret-name", "path": "/secret/path", "mode": "watched"],
            ["name": "b", "mode": "\"}\nevil", "reason": "secret reason"],
        ],
        "scan": nil, "lastScan": ["finished": 1_700_000_000.5, "seconds": 2],
        "faults": [["uri": "file:///secret/path/a.mp3", "reason": "secret"]],
    ]

    @Test("all families, in both formats, and nothing of the answers but numbers", arguments: MetricsFormat.allCases)
    func all(format: MetricsFormat) {
        let text = Self.text(DaemonMetrics.families(daemon: Self.daemon, library: Self.library), format)
        for line in [
            "nowplaying_up{program=\"daemon\"} 1", "nowplaying_up{program=\"library\"} 1",
            "nowplaying_uptime_seconds 12.5", "nowplaying_plays_total 3", "nowplaying_stalls_total 1",
            "nowplaying_drifts_total 0", "nowplaying_underruns_total 0", "nowplaying_wakeups_total 99",
            "nowplaying_clock_error_seconds 0.001", "nowplaying_clock_skew_ratio 1e-05",
            "nowplaying_clock_uncertainty_seconds 0.002", "nowplaying_queue_items 10", "nowplaying_clients 2",
            "nowplaying_sessions{state=\"playing\"} 1", "nowplaying_library_tracks 7",
            "nowplaying_library_duration_seconds 1234.5", "nowplaying_library_faults 1",
            "nowplaying_library_scanning 0", "nowplaying_library_folders{mode=\"watched\"} 1",
            "nowplaying_library_folders{mode=\"missing\"} 0",
            "nowplaying_library_last_scan_timestamp_seconds 1700000000.5",
            "nowplaying_library_last_scan_duration_seconds 2",
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
        #expect(!text.contains("secret") && !text.contains("evil"))
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.hasPrefix("nowplaying_"), "\(line)")
        }
    }

    @Test("a program that does not answer has no figures") func absent() {
        let text = Self.text(DaemonMetrics.families(daemon: nil, library: nil), .openMetrics)
        #expect(text.contains("\nnowplaying_up{program=\"daemon\"} 0\nnowplaying_up{program=\"library\"} 0\n# EOF\n"))
        #expect(text.split(separator: "\n").filter { !$0.hasPrefix("#") }.count == 3)
        // Members of another type are left out.
        let strange: JSONValue = ["plays": "many", "sessions": [1], "clock": true, "queue": ["a": 1]]
        let left = Self.text(DaemonMetrics.families(daemon: strange, library: [:]), .plain)
        #expect(!left.contains("nowplaying_plays") && !left.contains("nowplaying_queue"))
    }
}
