import Testing

@testable import PlaybackEngine

/// Search for a ticket among many.
@Suite struct TicketTests {
    private struct Link: Ticketed {
        var ticket: Int
    }

    /// Counts the accesses to its elements.
    private struct Counted: RandomAccessCollection {
        final class Looks {
            var count = 0
        }

        var links: [Link]
        let looks = Looks()
        var startIndex: Int { 0 }
        var endIndex: Int { links.count }
        subscript(index: Int) -> Link {
            looks.count += 1
            return links[index]
        }
    }

    @Test("each ticket is found at its index, and a missing one is not found") func lookups() {
        for count in 0..<20 {
            let links = Counted(links: (0..<count).map { Link(ticket: 3 * $0 + 1) })
            for ticket in -1...(3 * count + 1) {
                #expect(links.index(of: ticket) == links.links.firstIndex { $0.ticket == ticket })
                #expect(links.firstIndex(from: ticket) == links.links.firstIndex { $0.ticket >= ticket } ?? count)
            }
        }
    }

    @Test("a ticket among 3,000 takes no more than 12 looks") func looks() {
        let links = Counted(links: (0..<3000).map(Link.init))
        for ticket in 0...3000 {
            links.looks.count = 0
            _ = links.firstIndex(from: ticket)
            #expect(links.looks.count <= 12)
        }
    }
}
