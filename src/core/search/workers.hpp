// Threads that live as long as a search and share its work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace likely::search {

class Workers {
 public:
  // task(i, thread): piece i of the work, on thread 0 (the caller's) or one of the others.
  using Task = std::function<void(std::size_t, std::size_t)>;
  // Whether to begin another piece, given how many were begun; asked on the caller's thread only, now and then.
  using GoOn = std::function<bool(std::size_t)>;

  // The calling thread is one of them; the others are started with the first work that has several pieces.
  explicit Workers(std::size_t threads) : threads_(threads) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  // Does pieces 0, 1, ... of the work, until there are `count` or somebody says to stop; returns how many were begun, all of
  // which are done. What a piece, or `go_on`, throws is thrown here once every thread rests.
  std::size_t run(std::size_t count, const Task& task, const GoOn& go_on);
  std::size_t threads() const { return threads_; }

 private:
  void start();
  void serve(std::size_t thread);
  bool do_one(std::unique_lock<std::mutex>& lock, std::size_t thread);
  void stop(std::exception_ptr error = nullptr);

  const std::size_t threads_;
  std::vector<std::thread> others_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable work_, rest_;
  const Task* task_ = nullptr;  // none: nothing to do
  std::size_t next_ = 0, count_ = 0, busy_ = 0;
  bool ending_ = false;
  std::exception_ptr error_;
};

}  // namespace likely::search
