import MPDProtocol

/// Requests of MPD's clients.
extension FuzzTarget {
    /// Lines on one connection: lists, waits, words, arguments, ranges and numbers.
    static let mpdLines = FuzzTarget(
        name: "mpd-lines",
        seeds: {
            [
                "status\ncommand_list_ok_begin\nplaylistinfo 0:10\nseekcur +1.5\ncommand_list_end\nidle player\nnoidle\n",
                "addid \"a \\\"b\\\" c.flac\" +0\nmove 1:4 -2\nplchanges -1 5:\ntagtypes disable Artist album\n",
                "albumart a/b.flac 8192\nbinarylimit 64\nprio 255 1:2 7\nconsume oneshot\npassword x\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            var conversation = Conversation()
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                switch conversation.take(Array(line)) {
                case .nothing, .endIdle: continue
                case .close, .refuse: conversation = Conversation()
                case .run(let work): for line in work.lines { request(line, &conversation) }
                }
            }
        })

    private static func request(_ line: [UInt8], _ conversation: inout Conversation) {
        var writer = AnswerWriter()
        do throws(RequestFault) {
            let request = try MPDRequest.read(
                line, allowed: [.read, .add, .player, .control, .admin], available: Set(MPDCommand.allCases))
            if request.command == .idle { conversation.beginIdle() }
            for argument in request.arguments { numbers(argument, &writer) }
            writer.ok()
        } catch {
            writer.failure(error.failure, index: 0, command: error.command?.rawValue ?? "")
        }
        precondition(writer.bytes.count { $0 == UInt8(ascii: "\n") } == 1, "an answer has more than one line")
    }

    /// Reads an argument in every way.
    private static func numbers(_ argument: Argument, _ writer: inout AnswerWriter) {
        if let range = try? argument.range(), let clipped = range.clipped(to: 100) {
            precondition(clipped.lowerBound >= 0 && clipped.upperBound <= 100, "a range is beyond the end")
        }
        if let place = try? Destination(argument), let index = try? place.insertion(count: 100, current: 50) {
            precondition((0...100).contains(index), "a position is beyond the end")
        }
        if let place = try? Destination(argument), let index = try? place.move(of: 10..<20, count: 100, current: 50) {
            precondition((0...90).contains(index), "a position is beyond the end")
        }
        if let seconds = try? argument.seconds() { precondition(seconds.isFinite && seconds >= 0) }
        if let number = try? argument.count() { precondition((0...Int(UInt32.max)).contains(number)) }
        _ = try? argument.flag()
        _ = try? argument.decimal()
        _ = MPDNumbers.unix(argument.text)
        _ = Permissions(argument.text)
    }

    /// Filters of `find` and `search`, and the options behind them.
    static let mpdFilter = FuzzTarget(
        name: "mpd-filter",
        seeds: {
            [
                "(Artist == 'Miles')\nsort\n-Date\nwindow\n0:10", "((Album contains \"a\\\"b\") AND (!(base 'x/y')))",
                "artist\nMiles\nalbum\nKind of Blue\ngroup\nDate", "(AudioFormat =~ '44100:*:2')\nposition\n+1",
                "(modified-since '2026-11-23T22:30:00+01:00')", "(prio >= 5)\nfile\nx",
            ].map { Array($0.utf8) }
        },
        run: { bytes in
            for foldsCase in [false, true] {
                var arguments = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    .map { Argument(Array($0)) }
                guard (try? QueryTail(&arguments, [.position, .window, .sort, .groups])) != nil,
                    let filter = try? FilterParser(foldsCase: foldsCase).filter(arguments)
                else { continue }
                let comparison = TextComparison(fold: { $0.lowercased() }, matches: { text, _, _ in text.isEmpty })
                precondition(
                    filter.matches(FuzzedSong(), comparison)
                        != SongFilter.not(filter).matches(FuzzedSong(), comparison))
            }
        })
}

extension FuzzTarget {
    /// Parts of a picture, which a client reads with offsets and limits of its own. The first two bytes are its size.
    static let mpdBinary = FuzzTarget(
        name: "mpd-binary",
        seeds: {
            [
                [0x2A, 0x00] + Array("readpicture a.flac 0\nreadpicture a.flac 8192\nreadpicture a.flac 10752\n".utf8),
                [0x00, 0x40] + Array("binarylimit 64\nalbumart a.flac 0\nalbumart \"a.flac\" 64\nalbumart a 65\n".utf8),
                [0x00, 0x00] + Array("binarylimit 4294967295\nalbumart a -1\nalbumart a 4294967296\n".utf8),
            ]
        },
        run: { bytes in
            guard bytes.count > 2 else { return }
            let file = (0..<(Int(bytes[0]) << 8 | Int(bytes[1]))).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var limit = 8192
            for line in bytes[2...].split(separator: UInt8(ascii: "\n")) {
                let request = try? MPDRequest.read(Array(line), allowed: [.read], available: Set(MPDCommand.allCases))
                switch request?.command {
                case .binarylimit?: limit = (try? BinaryPart.limit(request?.arguments[0] ?? Argument(""))) ?? limit
                case .albumart?, .readpicture?:
                    guard let offset = try? request?.arguments[1].count() else { continue }
                    part(of: file, from: offset, limit)
                case _: continue
                }
            }
        })

    /// Answers a part and reads it again as a client does.
    private static func part(of file: [UInt8], from offset: Int, _ limit: Int) {
        guard let part = try? BinaryPart(from: offset, of: file.count, limit: limit) else {
            return precondition(offset > file.count, "a part within the file is refused")
        }
        precondition(part.range.lowerBound == offset && part.range.upperBound <= file.count, "a part is beyond the end")
        precondition(part.range.count <= limit, "a part is longer than the client takes")
        precondition(!part.range.isEmpty || offset == file.count, "a part has no bytes")
        var writer = AnswerWriter()
        writer.part(part, type: "image/png", file[part.range])
        writer.ok()
        let head = "size: \(file.count)\ntype: image/png\nbinary: \(part.range.count)\n"
        precondition(writer.bytes.elementsEqual(Array(head.utf8) + file[part.range] + Array("\nOK\n".utf8)))
    }
}

/// A song that filters look at.
private struct FuzzedSong: FilteredSong {
    func values(_ tag: MPDTag) -> [String] { tag == .artist ? ["Miles", "Ärzte"] : [] }
    let file = "x/y/z.flac"
    let modified: Int64? = 1_700_000_000
    let added: Int64? = nil
    let sampleRate: Int? = 44_100
    let bits: FormatTest.SampleBits? = .whole(16)
    let channels: Int? = 2
    let priority = 3
}
