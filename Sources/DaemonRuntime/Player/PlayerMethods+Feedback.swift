import ControlProtocol
import LinuxSystem
import NowPlaying
import PlaybackEngine

/// What listeners say of items.
extension PlayerMethods {
    /// `rating`, `like`, `dislike` and `bookmark`, of the present item.
    func remember(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void) {
        guard let item = player.currentItem else { return answer(failure(.noItem)) }
        guard let feedback else {
            return answer(.failure(.commandFailed("unavailable", "nothing is remembered by this daemon")))
        }
        feedback.change(item, by: request.client.originator, edit(request)) { [self] result in
            switch result {
            case .success: answer(self.answer(for: CommandOutcome(state: player.state, isSuperseded: false)))
            case .failure(let failure):
                answer(.failure(.commandFailed("unavailable", "it can't be remembered: \(failure.message)")))
            }
        }
    }

    private func edit(_ request: MethodRequest) -> FeedbackKeeper.Edit {
        let isActive = request.bool("active") ?? true
        switch request.method {
        case .like:
            return { feedback in
                feedback.isLiked = isActive
                if isActive { feedback.isDisliked = false }
            }
        case .dislike:
            return { feedback in
                feedback.isDisliked = isActive
                if isActive { feedback.isLiked = false }
            }
        case .bookmark:
            let place = player.elapsed
            return { $0.bookmark = isActive ? place : nil }
        default:
            let rating = request.double("rating") ?? 0
            return { $0.rating = rating }
        }
    }
}
