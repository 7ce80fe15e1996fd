#include "workers.hpp"

#include <chrono>
#include <utility>

#include "../tolerances.hpp"

namespace likely::search {

Workers::~Workers() {
  {
    const std::lock_guard held(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : others_) thread.join();
}

void Workers::start() {
  while (others_.size() + 1 < threads_) {
    const std::size_t thread = others_.size() + 1;
    others_.emplace_back([this, thread] { serve(thread); });
  }
}

void Workers::serve(std::size_t thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ending_ || (task_ != nullptr && next_ < count_); });
    if (ending_) return;
    while (do_one(lock, thread)) {
    }
  }
}

// Does the next piece, if there is one; `lock` is held before and after.
bool Workers::do_one(std::unique_lock<std::mutex>& lock, std::size_t thread) {
  if (task_ == nullptr || next_ >= count_) return false;
  const std::size_t piece = next_++;
  const Task& task = *task_;
  ++busy_;
  lock.unlock();
  std::exception_ptr error;
  try {
    task(piece, thread);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error) stop(error);
  --busy_;
  if (busy_ == 0) rest_.notify_one();
  return true;
}

// No further piece is begun.
void Workers::stop(std::exception_ptr error) {
  count_ = next_;
  if (error && !error_) error_ = std::move(error);
}

std::size_t Workers::run(std::size_t count, const Task& task, const GoOn& go_on) {
  if (count > 1) start();
  std::unique_lock lock(mutex_);
  task_ = &task;
  next_ = 0;
  count_ = count;
  if (count > 1) work_.notify_all();
  auto asked = [&] {
    const std::size_t begun = next_;
    lock.unlock();
    std::exception_ptr error;
    bool more = false;
    try {
      more = go_on(begun);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (!more) stop(error);
  };
  while (next_ < count_) {
    asked();
    do_one(lock, 0);
  }
  const std::chrono::duration<double> moment(tolerance::kSecondsBetweenPolls);
  while (!rest_.wait_for(lock, moment, [this] { return busy_ == 0; })) asked();
  task_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return next_;
}

}  // namespace likely::search
