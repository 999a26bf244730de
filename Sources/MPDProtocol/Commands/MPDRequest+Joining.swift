extension MPDRequest {
    /// True if a command list may carry out this request and the request before it as one change: an addition at the end or at
    /// the next index, or a removal of the same kind.
    package func joins(_ previous: MPDRequest) -> Bool {
        switch (previous.command, command) {
        case (.add, .add), (.add, .addid), (.addid, .add), (.addid, .addid): continues(previous)
        case (.delete, .delete), (.deleteid, .deleteid): true
        case (_, _): false
        }
    }

    /// True if two additions have adjacent indexes.
    private func continues(_ previous: MPDRequest) -> Bool {
        switch (previous.arguments.count, arguments.count) {
        case (1, 1): return true
        case (2, 2):
            guard case .index(let before)? = try? Destination(previous.arguments[1]),
                case .index(let own)? = try? Destination(arguments[1])
            else { return false }
            return own == before + 1
        case (_, _): return false
        }
    }
}
